/* A structure by value. */
struct s { int a[100]; };
__kernel void k(__global int *out, struct s x) { out[0] = x.a[out[1]]; }
