/* Text that turns around. */
/* ‮ ⁦ */ int é中 = 1;
__kernel void k(__global int *out) { out[0] = 1; }
