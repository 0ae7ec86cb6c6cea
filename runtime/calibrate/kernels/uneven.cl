/* The first half of the work-groups computes, the other does nothing: how
 * groups are split between SHAVEs. */
__kernel void uneven(__global const int *in, __global int *out, int count)
{
    const int mine = get_group_id(0) < get_num_groups(0) / 2 ? count : 0;
    int x = mine;

    for (int k = 0; k < mine; k++)
        x = (x << 1) ^ (x + k);
    out[get_group_id(0)] = x;
}
