/* Types a SHAVE does not have, or odd ones: volatile all. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    volatile int x[4]; volatile int4 v = (int4)(n); x[m & 3] = v.x; out[0] = x[n];
}
