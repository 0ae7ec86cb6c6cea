/* A pointer that leads nowhere: end vector. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global int16 *)0xfffffff0u = (int16)(7);
}
