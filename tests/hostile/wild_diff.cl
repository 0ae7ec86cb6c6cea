/* A pointer that leads nowhere: diff. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[(int)((__global int *)m - out)] = 1;
}
