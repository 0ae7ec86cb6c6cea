/* Operations in half that wait for each other. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void chain_half(__global const int *in, __global int *out, int count)
{
    half x = (half)1;

    for (int k = 0; k < count; k++)
        x = x * (half)0.5 + (half)1;
    out[get_group_id(0)] = (int)x;
}
