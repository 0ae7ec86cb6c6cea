/* A pragma: optimize. */
#pragma clang optimize off
__kernel void k(__global int *out) { out[0] = 1; }
