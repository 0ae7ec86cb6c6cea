/* What all items do together, wrong: divergent. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    if (get_local_id(0)) barrier(CLK_LOCAL_MEM_FENCE); out[0] = 1;
}
