/* A kernel with any number of arguments. */
__kernel void k(__global int *out, ...) { out[0] = 1; }
