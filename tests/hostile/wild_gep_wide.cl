/* A pointer that leads nowhere: gep wide. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[0] = ((__global int *)&((__global int16 *)out)[m])[3];
}
