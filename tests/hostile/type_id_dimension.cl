/* Types a SHAVE does not have, or odd ones: id dimension. */
__kernel void k(__global int *out, uint n, uint m, __local int *t)
{
    out[get_global_id(m) & 7] = get_local_size(99) + get_num_groups(-1) + get_group_id(m);
}
