/* A function that is another. */
int f(int x) { return x; }
int g(int) __attribute__((alias("f")));
__kernel void k(__global int *out) { out[0] = g(1); }
