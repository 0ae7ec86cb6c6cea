/* A pointer that leads nowhere: null. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global int *)0 = 1;
}
