/* Constant data no device has room for. */
__constant int big[1 << 26] = {1};
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = big[m];
}
