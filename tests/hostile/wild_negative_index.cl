/* A pointer that leads nowhere: negative index. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[-1 - (int)n] = 3;
}
