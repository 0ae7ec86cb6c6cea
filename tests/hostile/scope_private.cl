/* A variable of the whole program: private. */
int x = 4;
__kernel void k(__global int *out) { out[0] = *(__global int *)(uint)&x; }
