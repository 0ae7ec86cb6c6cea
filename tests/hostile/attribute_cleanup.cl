/* Attributes: cleanup. */
__attribute__((cleanup(k))) __kernel void k(__global int *out) { out[0] = 1; }
