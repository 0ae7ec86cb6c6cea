/* A loop without an end, or nearly: barrier. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (;;) barrier(CLK_LOCAL_MEM_FENCE);
}
