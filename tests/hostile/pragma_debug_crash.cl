/* A pragma: debug crash. */
#pragma clang __debug crash
__kernel void k(__global int *out) { out[0] = 1; }
