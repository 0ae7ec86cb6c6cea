/* Space to depth: every S x S tile of a plane becomes S * S channels.
 *
 *   dst[b][t * C + c][y][x] = src[b][c][y * S + t / S][x * S + t % S]
 *
 * for t in 0 .. S * S - 1; C is the number of source channels. One work-item
 * makes one output element; dimension 2 counts output channels of all items of
 * the batch. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void reorg(__global const half *restrict src,
                    __global half *restrict dst, int C, int stride)
{
    const int W = get_global_size(0), H = get_global_size(1);
    const int x = get_global_id(0), y = get_global_id(1);
    const int plane = get_global_id(2);
    const int tiles = stride * stride;
    const int tile = plane / C % tiles;
    const int from_plane = plane / (C * tiles) * C + plane % C;
    const int from_y = y * stride + tile / stride;
    const int from_x = x * stride + tile % stride;

    dst[(plane * H + y) * W + x] =
        src[(from_plane * H * stride + from_y) * W * stride + from_x];
}
