/* Attributes: annotate. */
__attribute__((annotate("x\ny"))) __kernel void k(__global int *out) { out[0] = 1; }
