/* Types a SHAVE does not have, or odd ones: bitint. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    _BitInt(33) x = m; out[0] = (int)(x * x);
}
