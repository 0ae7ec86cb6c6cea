/* Quotients of integers, each of the one before. */
__kernel void divide(__global const int *in, __global int *out, int count)
{
    int x = count;

    for (int k = 0; k < count; k++)
        x = 1000000 / (x | 1) + k;
    out[get_group_id(0)] = x;
}
