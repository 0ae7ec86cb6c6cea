/* A loop without an end, or nearly: step even. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (uint i = 1; i != n; i += 2) t[0] = i;
}
