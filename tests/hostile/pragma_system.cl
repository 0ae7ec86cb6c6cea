/* A pragma: system. */
#pragma GCC system_header
__kernel void k(__global int *out) { out[0] = 1; }
