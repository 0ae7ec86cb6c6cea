/* Loads from local memory, each at a place that the one before gives. */
__kernel void local_chase(__global const int *in, __global int *out,
                          __local int *tile, int count)
{
    int i = 0;

    for (int k = 0; k < 1024; k++)
        tile[k] = (k + 17) & 1023;
    for (int k = 0; k < count; k++)
        i = tile[i];
    out[get_group_id(0)] = i;
}
