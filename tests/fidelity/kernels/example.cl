/* The worked example of docs/timing.md: one item adds n numbers. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void example(__global const half *restrict src,
                      __global half *restrict dst, int n)
{
    float sum = 0;

    for (int i = 0; i < n; i++)
        sum += src[i];
    dst[0] = sum;
}
