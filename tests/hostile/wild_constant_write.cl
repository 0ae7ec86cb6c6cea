/* A pointer that leads nowhere: constant write. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global int *)m = 2;
}
