/* No end of the last line, in a comment. */
__kernel void k(__global int *out) { out[0] = 1; }
/* never closed
