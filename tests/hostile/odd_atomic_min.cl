/* An atomic at an odd address. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    atomic_min((volatile __global int *)((__global char *)out + 1), 3); atomic_min((volatile __local int *)((__local char *)t + 3), 3);
}
