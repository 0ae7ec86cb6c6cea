/* Another line or file name: name. */
#line 7 "/etc/passwd"
__kernel void k(__global int *out) { out[0] = 1; }
