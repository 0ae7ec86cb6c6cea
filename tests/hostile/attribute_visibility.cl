/* Attributes: visibility. */
__attribute__((visibility("hidden"), weak)) __kernel void k(__global int *out) { out[0] = 1; }
