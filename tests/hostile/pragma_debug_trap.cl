/* A pragma: debug trap. */
#pragma clang __debug llvm_fatal_error
__kernel void k(__global int *out) { out[0] = 1; }
