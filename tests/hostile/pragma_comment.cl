/* A pragma: comment. */
#pragma comment(lib, "m")
__kernel void k(__global int *out) { out[0] = 1; }
