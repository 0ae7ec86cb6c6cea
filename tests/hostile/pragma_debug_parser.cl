/* A pragma: debug parser. */
#pragma clang __debug parser_crash
__kernel void k(__global int *out) { out[0] = 1; }
