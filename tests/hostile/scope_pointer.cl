/* A variable of the whole program: pointer. */
__constant int y = 1; __constant int *__constant x = &y;
__kernel void k(__global int *out) { out[0] = *(__global int *)(uint)&x; }
