/* A pragma: debug overflow. */
#pragma clang __debug overflow_stack
__kernel void k(__global int *out) { out[0] = 1; }
