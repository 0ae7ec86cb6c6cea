/* A name that is no UTF-8. */
int aÿþb;
__kernel void k(__global int *out) { out[0] = 1; }
