/* A variable of the whole program: extern. */
extern __constant int x;
__kernel void k(__global int *out) { out[0] = *(__global int *)(uint)&x; }
