/* Types a SHAVE does not have, or odd ones: bitfield wide. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    struct { ulong a : 60; int b : 1; } s; s.a = m; s.b = n; out[0] = s.a + s.b;
}
