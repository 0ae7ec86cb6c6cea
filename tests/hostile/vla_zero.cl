/* One of length zero. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x[n]; x[0] = 1; out[0] = x[0];
}
