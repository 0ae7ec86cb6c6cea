/* A loop without an end, or nearly: float. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (float x = 0; x < 1e9f; x += 1) t[0] = x;
}
