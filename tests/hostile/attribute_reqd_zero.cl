/* Attributes: reqd zero. */
__attribute__((reqd_work_group_size(0, 0, 0))) __kernel void k(__global int *out) { out[0] = 1; }
