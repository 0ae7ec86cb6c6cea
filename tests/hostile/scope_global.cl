/* A variable of the whole program: global. */
__global int x = 3;
__kernel void k(__global int *out) { out[0] = *(__global int *)(uint)&x; }
