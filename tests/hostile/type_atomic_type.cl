/* Types a SHAVE does not have, or odd ones: atomic type. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    _Atomic int x; x = n; out[0] = x;
}
