/* A kernel called main. */
__kernel void main(__global int *out) { out[0] = 1; }
__kernel void k(__global int *out) { out[0] = 1; }
