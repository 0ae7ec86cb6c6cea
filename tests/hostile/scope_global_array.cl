/* A variable of the whole program: global array. */
__global int x[1000];
__kernel void k(__global int *out) { out[0] = *(__global int *)(uint)&x; }
