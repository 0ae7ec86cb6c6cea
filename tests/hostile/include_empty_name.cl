/* Includes what is no source: empty name. */
#include ""
__kernel void k(__global int *out) { out[0] = 1; }
