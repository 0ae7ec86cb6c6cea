/* A pointer that leads nowhere: swap. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __global int *a = out, *b = (__global int *)m; for (uint i = 0; i < 4; i++) { __global int *c = a; a = b; b = c; } *a = 1;
}
