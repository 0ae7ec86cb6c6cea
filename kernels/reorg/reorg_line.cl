/* Space to depth, line by line: one work-item makes one output row, so the
 * divisions that find its source are done once for all W elements.
 *
 * Dimension 0 counts rows, dimension 1 output channels, dimension 2 items of
 * the batch. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void reorg_line(__global const half *restrict src,
                         __global half *restrict dst, int C, int W, int stride)
{
    const int y = get_global_id(0), H = get_global_size(0);
    const int channel = get_global_id(1), b = get_global_id(2);
    const int tile = channel / C, from_plane = b * C + channel % C;
    const int from_y = y * stride + tile / stride;
    const int plane = b * get_global_size(1) + channel;

    __global const half *from =
        src + (from_plane * H * stride + from_y) * W * stride + tile % stride;
    __global half *to = dst + (plane * H + y) * W;

    for (int x = 0; x < W; x++)
        to[x] = from[x * stride];
}
