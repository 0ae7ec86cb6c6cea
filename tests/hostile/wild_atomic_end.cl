/* A pointer that leads nowhere: atomic end. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    atomic_add((volatile __global int *)0xfffffffe, 3);
}
