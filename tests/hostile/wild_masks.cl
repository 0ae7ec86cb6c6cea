/* A pointer that leads nowhere: masks. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    *(__global int *)((uint)out & 0xfffffffc) = 1; *(__global int *)((uint)out | 0xff000000) = 1;
}
