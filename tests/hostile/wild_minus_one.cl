/* A pointer that leads nowhere: minus one. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global char *)0xffffffffu = 1;
}
