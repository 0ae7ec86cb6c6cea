/* What all items do together, wrong: divergent loop. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (uint i = 0; i < get_local_id(0); i++) barrier(CLK_LOCAL_MEM_FENCE);
}
