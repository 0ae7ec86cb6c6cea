/* Operations in float that wait for each other. */
__kernel void chain_float(__global const int *in, __global int *out, int count)
{
    float x = (float)count;

    for (int k = 0; k < count; k++)
        x = x * 0.5f + 1.0f;
    out[get_group_id(0)] = (int)x;
}
