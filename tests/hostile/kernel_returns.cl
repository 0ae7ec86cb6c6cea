/* A kernel that returns something. */
__kernel int k(__global int *out) { return 1; }
