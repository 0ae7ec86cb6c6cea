/* Includes what is no source: stdin. */
#include "/dev/stdin"
__kernel void k(__global int *out) { out[0] = 1; }
