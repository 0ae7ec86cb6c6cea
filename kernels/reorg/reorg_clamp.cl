/* Space to depth, element by element, for a work size rounded up so that work-
 * groups have a multiple of eight items: items past the end of a row take its
 * last element once more.
 *
 * All items stay alike, but the clamped index is no longer x plus a constant:
 * elements are gathered one by one, and stored one by one. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void reorg_clamp(__global const half *restrict src,
                          __global half *restrict dst, int C, int W, int stride)
{
    const int H = get_global_size(1);
    const int x = min((int)get_global_id(0), W - 1), y = get_global_id(1);
    const int plane = get_global_id(2);
    const int tiles = stride * stride;
    const int tile = plane / C % tiles;
    const int from_plane = plane / (C * tiles) * C + plane % C;
    const int from_y = y * stride + tile / stride;
    const int from_x = x * stride + tile % stride;

    dst[(plane * H + y) * W + x] =
        src[(from_plane * H * stride + from_y) * W * stride + from_x];
}
