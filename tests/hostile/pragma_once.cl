/* A pragma: once. */
#pragma once
__kernel void k(__global int *out) { out[0] = 1; }
