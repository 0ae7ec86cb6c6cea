/* A loop without an end, or nearly: item. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    for (uint i = get_local_id(0); i < m; i += get_local_size(0) * 0) t[0] = i;
}
