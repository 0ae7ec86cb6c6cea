/* Types a SHAVE does not have, or odd ones: aligned huge. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    int x __attribute__((aligned(1 << 28))) = n; out[0] = *&x;
}
