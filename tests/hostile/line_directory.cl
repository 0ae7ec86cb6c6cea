/* Another line or file name: directory. */
#line 3 "/tmp/"
int x = y;
__kernel void k(__global int *out) { out[0] = 1; }
