/* Includes what is no source: zero. */
#include "/dev/zero"
__kernel void k(__global int *out) { out[0] = 1; }
