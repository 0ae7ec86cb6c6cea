/* @NAME@: every element that is below zero, times slope. For batch 1.
 *
 * One work-item computes one element. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void @NAME@_kernel(
    __global const half *restrict src, __global half *restrict dst, int width,
    int height, float slope)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int c = get_global_id(2);
    const int i = (c * height + y) * width + x;
    const float v = (float)src[i];

    dst[i] = (half)(v < 0 ? v * slope : v);
}
