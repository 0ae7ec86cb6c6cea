/* Includes what is no source: tty. */
#include "/dev/tty"
__kernel void k(__global int *out) { out[0] = 1; }
