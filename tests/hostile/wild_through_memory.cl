/* A pointer that leads nowhere: through memory. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    __global int *p = out; *(__global int * *)&p = 0; *p = 1;
}
