/* A variable of the whole program: address. */
__constant ulong x = (ulong)&x;
__kernel void k(__global int *out) { out[0] = *(__global int *)(uint)&x; }
