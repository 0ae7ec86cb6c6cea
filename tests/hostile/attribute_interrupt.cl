/* Attributes: interrupt. */
__attribute__((interrupt)) __kernel void k(__global int *out) { out[0] = 1; }
