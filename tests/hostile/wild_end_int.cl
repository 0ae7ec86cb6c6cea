/* A pointer that leads nowhere: end int. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global int *)0xfffffffdu = 1;
}
