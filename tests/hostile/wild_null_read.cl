/* A pointer that leads nowhere: null read. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = *(__global int *)0;
}
