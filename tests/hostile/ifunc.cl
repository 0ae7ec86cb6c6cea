/* A resolver that would run on the host. */
static void *r(void) { return 0; }
int g(int) __attribute__((ifunc("r")));
__kernel void k(__global int *out) { out[0] = g(1); }
