/* A pointer that leads nowhere: prefetch. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    prefetch(out + m, 0xffffffffu);
}
