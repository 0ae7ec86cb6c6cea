/* Includes what is no source: missing. */
#include "no/such/file.h"
__kernel void k(__global int *out) { out[0] = 1; }
