/* A pragma: extension odd. */
#pragma OPENCL EXTENSION nosuch : require
__kernel void k(__global int *out) { out[0] = 1; }
