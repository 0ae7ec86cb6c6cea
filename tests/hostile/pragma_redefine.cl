/* A pragma: redefine. */
#pragma redefine_extname k system
__kernel void k(__global int *out) { out[0] = 1; }
