/* A loop without an end, or nearly: unroll. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    _Pragma("unroll 1000000") for (uint i = 0; i < m; i++) out[i & 7] += i;
}
