/* A pragma: module. */
#pragma clang module import x
__kernel void k(__global int *out) { out[0] = 1; }
