/* Types a SHAVE does not have, or odd ones: pointer array. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __global int *p[64]; p[n] = out; *p[m & 63] = 1;
}
