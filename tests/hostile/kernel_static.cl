/* A static kernel. */
static __kernel void k(__global int *out) { out[0] = 1; }
