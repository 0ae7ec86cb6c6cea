/* Types a SHAVE does not have, or odd ones: packed. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    struct __attribute__((packed)) { char c; int16 v; } s; s.v = (int16)(n); out[0] = ((__private int *)&s.v)[m];
}
