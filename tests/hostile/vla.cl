/* An array of variable length. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x[m]; x[n] = 1; out[0] = x[n];
}
