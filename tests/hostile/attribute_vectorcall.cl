/* Attributes: vectorcall. */
__attribute__((vectorcall)) __kernel void k(__global int *out) { out[0] = 1; }
