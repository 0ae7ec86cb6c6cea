/* leaky_relu.cl through local memory.
 *
 * A work-group is one image row: __dma_preload_ copies the row of every channel
 * to local memory, the kernel computes there, __dma_postwrite_ copies the
 * result back. In local memory the rows of the channels follow each other. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void __dma_preload_leaky_relu_dma(__global const half *restrict src,
                                           __global half *restrict dst, int C,
                                           float slope,
                                           __local half *restrict row_in,
                                           __local half *restrict row_out)
{
    const size_t row_bytes = get_local_size(0) * sizeof(half);
    const size_t W = get_global_size(0), H = get_global_size(1);
    const size_t first = get_group_id(2) * C * H * W + get_group_id(1) * W +
                         get_group_id(0) * get_local_size(0);

    WorkGroupDmaCreateStrideTransaction(src + first, row_in, row_bytes,
                                        row_bytes, H * W * sizeof(half),
                                        row_bytes, row_bytes * C, 0);
}

__kernel void leaky_relu_dma(__global const half *restrict src,
                             __global half *restrict dst, int C, float slope,
                             __local half *restrict row_in,
                             __local half *restrict row_out)
{
    const int x = get_local_id(0), width = get_local_size(0);

#pragma unroll 8
    for (int c = 0; c < C; c++) {
        const float v = (float)row_in[c * width + x];

        row_out[c * width + x] = convert_half(v > 0.0f ? v : v * slope);
    }
}

__kernel void __dma_postwrite_leaky_relu_dma(__global const half *restrict src,
                                             __global half *restrict dst, int C,
                                             float slope,
                                             __local half *restrict row_in,
                                             __local half *restrict row_out)
{
    const size_t row_bytes = get_local_size(0) * sizeof(half);
    const size_t W = get_global_size(0), H = get_global_size(1);
    const size_t first = get_group_id(2) * C * H * W + get_group_id(1) * W +
                         get_group_id(0) * get_local_size(0);

    WorkGroupDmaCreateStrideTransaction(row_out, dst + first, row_bytes,
                                        row_bytes, row_bytes,
                                        H * W * sizeof(half), row_bytes * C, 0);
}
