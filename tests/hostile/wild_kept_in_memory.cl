/* A pointer that leads nowhere: kept in memory. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    ((__global uint *)out)[1] = m; __global int *q = *(__global int * __global *)(out + 1); *q = 1;
}
