/* Space to depth on channel-last tensors, element by element.
 *
 *   dst[b][y][x][t * C + c] = src[b][y * S + t / S][x * S + t % S][c]
 *
 * Dimension 0 counts output channels, dimension 1 columns, dimension 2 the rows
 * of all items of the batch: an item's source rows follow those of the item
 * before it, so the batch needs no arithmetic of its own. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void reorg_last(__global const half *restrict src,
                         __global half *restrict dst, int C, int stride)
{
    const int channel = get_global_id(0), channels = get_global_size(0);
    const int x = get_global_id(1), W = get_global_size(1);
    const int y = get_global_id(2);
    const int tile = channel / C, c = channel % C;
    const int from_y = y * stride + tile / stride;
    const int from_x = x * stride + tile % stride;

    dst[(y * W + x) * channels + channel] =
        src[(from_y * W * stride + from_x) * C + c];
}
