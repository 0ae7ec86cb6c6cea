/* A pointer that leads nowhere: local null. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__local int *)0 = 1;
}
