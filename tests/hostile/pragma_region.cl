/* A pragma: region. */
#pragma clang diagnostic error "-Weverything"
__kernel void k(__global int *out) { out[0] = 1; }
