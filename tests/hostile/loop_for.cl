/* A loop without an end, or nearly: for. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (;;) out[0]++;
}
