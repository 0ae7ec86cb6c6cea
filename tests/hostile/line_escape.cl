/* Another line or file name: escape. */
#line 7 "a\n\x41\"b"
int x = y;
__kernel void k(__global int *out) { out[0] = 1; }
