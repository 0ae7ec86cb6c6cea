/* A pointer to pointers. */
__kernel void k(__global int *__global *out) { **out = 1; }
