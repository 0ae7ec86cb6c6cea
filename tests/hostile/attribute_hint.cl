/* Attributes: hint. */
__attribute__((vec_type_hint(struct nosuch *))) __kernel void k(__global int *out) { out[0] = 1; }
