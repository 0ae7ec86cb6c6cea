/* A pointer that leads nowhere: huge index. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[m] = 3;
}
