/* A pointer that leads nowhere: ternary. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(n ? out : (__global int *)m) = 1;
}
