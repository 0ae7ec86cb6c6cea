/* Another line or file name: huger. */
#line 99999999999999
__kernel void k(__global int *out) { out[0] = 1; }
