/* A loop without an end, or nearly: long. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (long i = 0; i >= 0; i++) t[0] = i;
}
