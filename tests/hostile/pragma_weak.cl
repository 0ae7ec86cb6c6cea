/* A pragma: weak. */
#pragma weak k = memcpy
__kernel void k(__global int *out) { out[0] = 1; }
