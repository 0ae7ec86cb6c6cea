/* A kernel with another symbol. */
__kernel void k(__global int *out) __asm("memcpy");
__kernel void k(__global int *out) { out[0] = 1; }
