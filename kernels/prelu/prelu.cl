/* Rectifier with a slope for each channel.
 *
 *   dst[b][c][y][x] = v > 0 ? v : v * slopes[c],  v = src[b][c][y][x]
 *
 * One work-item is one element, one work-group one row; dimension 2 counts the
 * channels of all batch items, so the items of a group share a slope. The
 * product is half. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void prelu(__global const half *restrict src,
                    __global const half *restrict slopes,
                    __global half *restrict dst, int C)
{
    const int W = get_global_size(0), H = get_global_size(1);
    const int plane = get_global_id(2);
    const int i = (plane * H + get_global_id(1)) * W + get_global_id(0);
    const half slope = slopes[plane % C], v = src[i];

    dst[i] = v > (half)0 ? v : v * slope;
}
