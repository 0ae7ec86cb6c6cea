/* Attributes: error. */
__attribute__((error("x"))) __kernel void k(__global int *out) { out[0] = 1; }
