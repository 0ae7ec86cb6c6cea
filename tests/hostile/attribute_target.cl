/* Attributes: target. */
__attribute__((target("avx512f"))) __kernel void k(__global int *out) { out[0] = 1; }
