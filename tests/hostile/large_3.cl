/* Data no device has room for. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x[1 << 14][1 << 14]; ((__private int *)&x)[m & 3] = 1; out[0] = n;
}
