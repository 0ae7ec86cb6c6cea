/* A pragma: pack. */
#pragma pack(0x7fffffff)
__kernel void k(__global int *out) { out[0] = 1; }
