/* Another line or file name: huge. */
#line 4294967295
__kernel void k(__global int *out) { out[0] = 1; }
