/* A pointer that leads nowhere: index char. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[(char)m] = 3;
}
