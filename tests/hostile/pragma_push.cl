/* A pragma: push. */
#pragma clang attribute push(__attribute__((noinline)), apply_to = function)
__kernel void k(__global int *out) { out[0] = 1; }
