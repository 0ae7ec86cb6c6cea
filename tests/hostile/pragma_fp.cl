/* A pragma: fp. */
#pragma STDC FENV_ACCESS ON
__kernel void k(__global int *out) { out[0] = 1; }
