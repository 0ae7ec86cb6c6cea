/* An array of no elements. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x[0]; x[n] = 1; out[0] = x[m];
}
