/* What all items do together, wrong: divergent two. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    if (get_local_id(0) & 1) barrier(CLK_LOCAL_MEM_FENCE); else barrier(CLK_GLOBAL_MEM_FENCE);
}
