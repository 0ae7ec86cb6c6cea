/* Includes what is no source: has. */
#if __has_include("/etc/passwd")
#endif
__kernel void k(__global int *out) { out[0] = 1; }
