/* A pointer that leads nowhere: atomic null. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    atomic_inc((volatile __global int *)0);
}
