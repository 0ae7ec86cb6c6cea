/* A pragma: poison. */
#pragma GCC poison out
__kernel void k(__global int *out) { out[0] = 1; }
