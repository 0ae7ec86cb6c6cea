/* A pointer that leads nowhere: local negative. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    t[-100000] = 1;
}
