/* Attributes: reqd huge. */
__attribute__((reqd_work_group_size(4294967295, 4294967295, 4294967295))) __kernel void k(__global int *out) { out[0] = 1; }
