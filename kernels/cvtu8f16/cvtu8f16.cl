/* Bytes to half with a scale and an offset, through local memory.
 *
 *   dst[i] = half(src[i] * scale + bias)
 *
 * product and sum rounded to float. One work-group is one row of all channels:
 * __dma_preload_ copies its bytes in, __dma_postwrite_ its halves out. Sizes
 * and pitches are in bytes, so those of dst are twice those of src. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void __dma_preload_cvtu8f16(__global const uchar *restrict src,
                                     __global half *restrict dst, int C,
                                     float scale, float bias,
                                     __local uchar *restrict row_in,
                                     __local half *restrict row_out)
{
    const size_t W = get_global_size(0), H = get_global_size(1);
    const size_t first = get_group_id(2) * C * H * W + get_group_id(1) * W;

    WorkGroupDmaCreateStrideTransaction(src + first, row_in, W, W, H * W, W,
                                        W * C, 0);
}

__kernel void cvtu8f16(__global const uchar *restrict src,
                       __global half *restrict dst, int C, float scale,
                       float bias, __local uchar *restrict row_in,
                       __local half *restrict row_out)
{
    const int x = get_local_id(0), W = get_local_size(0);

#pragma unroll 4
    for (int c = 0; c < C; c++) {
        const float v = convert_float(row_in[c * W + x]);

        row_out[c * W + x] = convert_half(v * scale + bias);
    }
}

__kernel void __dma_postwrite_cvtu8f16(__global const uchar *restrict src,
                                       __global half *restrict dst, int C,
                                       float scale, float bias,
                                       __local uchar *restrict row_in,
                                       __local half *restrict row_out)
{
    const size_t W = get_global_size(0), H = get_global_size(1);
    const size_t first = get_group_id(2) * C * H * W + get_group_id(1) * W;
    const size_t row_bytes = W * sizeof(half);

    WorkGroupDmaCreateStrideTransaction(row_out, dst + first, row_bytes,
                                        row_bytes, row_bytes,
                                        H * W * sizeof(half), row_bytes * C, 0);
}
