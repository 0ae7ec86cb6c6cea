/* Another line or file name: zero. */
#line 0
__kernel void k(__global int *out) { out[0] = 1; }
