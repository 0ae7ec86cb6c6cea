/* Four chains of eight halves each, side by side. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void stream_half(__global const int *in, __global int *out, int count)
{
    half8 a = (half8)1, b = (half8)2, c = (half8)3, d = (half8)4;

    for (int k = 0; k < count; k++) {
        a = a * (half)0.5 + (half)1;
        b = b * (half)0.5 + (half)1;
        c = c * (half)0.5 + (half)1;
        d = d * (half)0.5 + (half)1;
    }
    a += b + c + d;
    out[get_group_id(0)] = (int)a.s0;
}
