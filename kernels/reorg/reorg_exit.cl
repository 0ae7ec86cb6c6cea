/* Space to depth, element by element, for a work size rounded up as that of
 * reorg_clamp.cl: items past the end of a row have nothing to do and return. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void reorg_exit(__global const half *restrict src,
                         __global half *restrict dst, int C, int W, int stride)
{
    const int H = get_global_size(1);
    const int x = get_global_id(0), y = get_global_id(1);

    if (x >= W)
        return;

    const int plane = get_global_id(2);
    const int tiles = stride * stride;
    const int tile = plane / C % tiles;
    const int from_plane = plane / (C * tiles) * C + plane % C;
    const int from_y = y * stride + tile / stride;
    const int from_x = x * stride + tile % stride;

    dst[(plane * H + y) * W + x] =
        src[(from_plane * H * stride + from_y) * W * stride + from_x];
}
