/* Softmax of every row: softmax.cl along x.
 *
 * One work-item is one row, one work-group one plane; dimension 1 counts
 * channels, dimension 2 batch items. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void softmax_rows(__global const half *restrict src,
                           __global half *restrict dst, int W)
{
    const int row = (get_global_id(2) * get_global_size(1) + get_global_id(1)) *
                        get_global_size(0) +
                    get_global_id(0);
    __global const half *from = src + row * W;
    __global half *to = dst + row * W;
    float largest = (float)from[0], sum = 0.0f;

    for (int x = 1; x < W; x++)
        largest = fmax(largest, (float)from[x]);
    for (int x = 0; x < W; x++)
        sum += exp((float)from[x] - largest);
    for (int x = 0; x < W; x++)
        to[x] = convert_half(exp((float)from[x] - largest) / sum);
}
