/* Space to depth through local memory: a work-group makes `rows` rows of every
 * plane that one source channel is cut into; a work-item takes the `stride`
 * source rows that make one row of each.
 *
 * The source rows of a group follow each other in DDR, and so do its rows of
 * each plane: __dma_preload_ copies one long line in, __dma_postwrite_ one for
 * each of the stride * stride planes out, beside the work on the neighbouring
 * groups. Dimension 0 counts output rows, dimension 1 source channels, dimension
 * 2 items of the batch. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void __dma_preload_reorg_dma(__global const half *restrict src,
                                      __global half *restrict dst, int W,
                                      int stride, __local half *restrict rows_in,
                                      __local half *restrict rows_out)
{
    const int H = get_global_size(0), rows = get_local_size(0);
    const int tiles = stride * stride, bytes = rows * W * tiles * sizeof(half);
    const int plane = get_group_id(2) * get_global_size(1) + get_group_id(1);
    const int row = plane * H + get_group_id(0) * rows;

    WorkGroupDmaCreateStrideTransaction(src + row * W * tiles, rows_in, bytes,
                                        bytes, bytes, bytes, bytes, 0);
}

__kernel void reorg_dma(__global const half *restrict src,
                        __global half *restrict dst, int W, int stride,
                        __local half *restrict rows_in,
                        __local half *restrict rows_out)
{
    const int y = get_local_id(0), rows = get_local_size(0);

    __local const half *from = rows_in + y * stride * W * stride;
    __local half *to = rows_out + y * W;

    for (int row = 0; row < stride; row++) {
        for (int column = 0; column < stride; column++) {
            for (int x = 0; x < W; x++)
                to[x] = from[x * stride + column];
            to += rows * W;
        }
        from += W * stride;
    }
}

__kernel void __dma_postwrite_reorg_dma(__global const half *restrict src,
                                        __global half *restrict dst, int W,
                                        int stride,
                                        __local half *restrict rows_in,
                                        __local half *restrict rows_out)
{
    const int H = get_global_size(0), rows = get_local_size(0);
    const int c = get_group_id(1), C = get_global_size(1);
    const int tiles = stride * stride, bytes = rows * W * sizeof(half);
    const int plane = get_group_id(2) * tiles * C + c;
    const int row = plane * H + get_group_id(0) * rows;

    WorkGroupDmaCreateStrideTransaction(rows_out, dst + row * W, bytes, bytes,
                                        bytes, C * H * W * sizeof(half),
                                        bytes * tiles, 0);
}
