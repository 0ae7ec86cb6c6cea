/* Another line or file name: control. */
#line 7 "a[31mb"
int x = "";
__kernel void k(__global int *out) { out[0] = 1; }
