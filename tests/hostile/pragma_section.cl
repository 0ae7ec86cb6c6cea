/* A pragma: section. */
#pragma clang section text="x" rodata="y"
__kernel void k(__global int *out) { out[0] = 1; }
