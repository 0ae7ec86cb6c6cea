/* Exponentials, each of the one before. */
__kernel void exponential(__global const int *in, __global int *out, int count)
{
    float x = 0.5f;

    for (int k = 0; k < count; k++)
        x = exp(-x);
    out[get_group_id(0)] = (int)(x * 1000.0f);
}
