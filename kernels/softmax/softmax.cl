/* Softmax of every pixel's channels.
 *
 *   dst[c] = exp(src[c] - m) / sum over k of exp(src[k] - m)
 *
 * where m is the largest of them. One work-item is one pixel, one work-group
 * one image row. All arithmetic is float. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void softmax_channels(__global const half *restrict src,
                               __global half *restrict dst, int C)
{
    const int plane = get_global_size(0) * get_global_size(1);
    const int pixel = get_global_id(2) * C * plane +
                      get_global_id(1) * get_global_size(0) + get_global_id(0);
    float largest = (float)src[pixel], sum = 0.0f;

    for (int c = 1; c < C; c++)
        largest = fmax(largest, (float)src[c * plane + pixel]);
    for (int c = 0; c < C; c++)
        sum += exp((float)src[c * plane + pixel] - largest);
    for (int c = 0; c < C; c++)
        dst[c * plane + pixel] =
            convert_half(exp((float)src[c * plane + pixel] - largest) / sum);
}
