/* Integer operations that wait for each other. */
__kernel void chain_int(__global const int *in, __global int *out, int count)
{
    int x = count;

    for (int k = 0; k < count; k++)
        x = (x << 1) ^ (x + k);
    out[get_group_id(0)] = x;
}
