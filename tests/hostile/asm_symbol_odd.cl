/* A symbol with a line break in it. */
int f(int x) __asm("a\nb\x01c");
int f(int x) { return x; }
__kernel void k(__global int *out) { out[0] = f(1); }
