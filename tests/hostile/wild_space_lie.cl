/* A pointer that leads nowhere: space lie. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__local int *)(uint)out = 1;
}
