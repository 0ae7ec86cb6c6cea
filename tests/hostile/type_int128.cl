/* Types a SHAVE does not have, or odd ones: int128. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __int128 x = m; out[0] = (int)(x * x >> 7);
}
