/* Includes what is no source: self. */
#include __FILE__
__kernel void k(__global int *out) { out[0] = 1; }
