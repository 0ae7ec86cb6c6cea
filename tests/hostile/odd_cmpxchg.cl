/* Compare and exchange across two cache lines. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = atomic_cmpxchg((volatile __global int *)((__global char *)out + 62), 0, 3);
}
