/* A pointer that leads nowhere: private wild. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x[4]; x[m] = 1; out[0] = x[n];
}
