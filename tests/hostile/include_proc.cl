/* Includes what is no source: proc. */
#include "/proc/self/environ"
__kernel void k(__global int *out) { out[0] = 1; }
