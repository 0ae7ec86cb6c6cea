/* Data no device has room for. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __local int x[1 << 28]; t[0] = 1; x[m & 3] = 1; out[0] = n;
}
