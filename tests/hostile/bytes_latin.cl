/* Bytes that are no UTF-8. */
/* ÿş€ */ __constant char x[] = "Ã(ğ";
__kernel void k(__global int *out) { out[0] = 1; }
