/* Includes what is no source: directory. */
#include "/tmp"
__kernel void k(__global int *out) { out[0] = 1; }
