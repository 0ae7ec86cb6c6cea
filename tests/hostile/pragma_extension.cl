/* A pragma: extension. */
#pragma OPENCL EXTENSION all : enable
__kernel void k(__global int *out) { out[0] = 1; }
