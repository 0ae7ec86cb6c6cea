/* Types a SHAVE does not have, or odd ones: typeof. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __typeof__(out) p = out; p[0] = sizeof(__typeof__(*p));
}
