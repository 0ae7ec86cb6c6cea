/* Assembly between functions. */
__asm__(".globl k\nk: ret");
__kernel void k(__global int *out) { out[0] = 1; }
