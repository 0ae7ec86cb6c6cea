/* Convolution with a 1 x 1 window, channels first.
 *
 *   dst[b][o][y][x] = sum over c of src[b][c][y][x] * weights[o][c]
 *
 * One work-item is one output element; dimension 2 counts output channels of
 * all batch items. Products and sums are half, in channel order. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void convolution1x1(__global const half *restrict src,
                             __global const half *restrict weights,
                             __global half *restrict dst, int C, int outputs)
{
    const int plane = get_global_size(0) * get_global_size(1);
    const int pixel =
        get_global_id(1) * get_global_size(0) + get_global_id(0);
    const int b = get_global_id(2) / outputs, o = get_global_id(2) % outputs;
    __global const half *from = src + b * C * plane + pixel;
    __global const half *w = weights + o * C;
    half sum = 0;

    for (int c = 0; c < C; c++)
        sum += from[c * plane] * w[c];

    dst[get_global_id(2) * plane + pixel] = sum;
}
