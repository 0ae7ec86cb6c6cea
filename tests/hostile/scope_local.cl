/* A variable of the whole program: local. */
__local int x;
__kernel void k(__global int *out) { out[0] = *(__global int *)(uint)&x; }
