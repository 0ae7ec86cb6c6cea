/* Attributes: soup. */
__attribute__((always_inline, noinline, cold, hot, flatten, leaf, pure, const, malloc, returns_twice, used)) __kernel void k(__global int *out) { out[0] = 1; }
