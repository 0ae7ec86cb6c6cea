/* Space to depth, tile by tile: one work-item takes the `stride` source rows
 * that make row y of a channel's planes, each of them once from end to end.
 *
 * The element at column t of every tile goes to plane t, so a source row is cut
 * into `stride` output rows while its cache lines are at hand. Pointers only
 * move forward; nothing is divided. Dimension 0 counts output rows, dimension 1
 * source channels, dimension 2 items of the batch. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void reorg_unrolled(__global const half *restrict src,
                             __global half *restrict dst, int W, int stride)
{
    const int y = get_global_id(0), H = get_global_size(0);
    const int c = get_global_id(1), C = get_global_size(1);
    const int b = get_global_id(2);
    const int next_tile = C * H * W; /* between planes of neighbouring t */

    __global const half *from =
        src + ((b * C + c) * H + y) * stride * W * stride;
    __global half *to = dst + ((b * stride * stride * C + c) * H + y) * W;

    for (int row = 0; row < stride; row++) {
        for (int column = 0; column < stride; column++) {
            for (int x = 0; x < W; x++)
                to[x] = from[x * stride + column];
            to += next_tile;
        }
        from += W * stride;
    }
}
