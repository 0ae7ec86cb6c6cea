/* A pointer that leads nowhere: local wild. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__local int *)m = 1;
}
