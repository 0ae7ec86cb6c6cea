/* A loop without an end, or nearly: lane. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    uint x = 1; while (x) x = x * 5 + 1; out[0] = x;
}
