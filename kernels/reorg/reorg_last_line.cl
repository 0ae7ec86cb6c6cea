/* Space to depth on channel-last tensors, line by line: here a line is the C
 * channels of a source pixel, which stay together. One work-item moves one.
 *
 * Dimension 0 counts source columns, dimension 1 the rows of a tile, dimension
 * 2 the output rows of all items of the batch. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void reorg_last_line(__global const half *restrict src,
                              __global half *restrict dst, int C, int stride)
{
    const int from_x = get_global_id(0), from_W = get_global_size(0);
    const int row = get_global_id(1), y = get_global_id(2);
    const int from_y = y * stride + row;
    const int x = from_x / stride, tile = row * stride + from_x % stride;
    const int pixel = y * (from_W / stride) + x;

    __global const half *from = src + (from_y * from_W + from_x) * C;
    __global half *to = dst + (pixel * stride * stride + tile) * C;

    for (int c = 0; c < C; c++)
        to[c] = from[c];
}
