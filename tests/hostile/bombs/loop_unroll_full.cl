/* A loop without an end, or nearly: unroll full. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    _Pragma("unroll") for (uint i = 0; i < 100000; i++) out[i & 7] += i;
}
