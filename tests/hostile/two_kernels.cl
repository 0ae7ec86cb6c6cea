/* Two kernels with one name. */
__kernel void k(__global int *out) { out[0] = 1; }
__kernel void k(__global int *out) { out[0] = 1; }
