/* A pointer that leads nowhere: private null. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__private int *)0 = 3;
}
