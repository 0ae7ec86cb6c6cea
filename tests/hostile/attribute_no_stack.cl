/* Attributes: no stack. */
__attribute__((no_sanitize("all"), no_stack_protector)) __kernel void k(__global int *out) { out[0] = 1; }
