/* Types a SHAVE does not have, or odd ones: bitint wide. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    unsigned _BitInt(100) x = m; out[0] = (int)(x << n);
}
