/* Includes what is no source: next. */
#include_next <stdio.h>
__kernel void k(__global int *out) { out[0] = 1; }
