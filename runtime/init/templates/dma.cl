/* @NAME@: every element that is below zero, times slope. For batch 1.
 *
 * A work-group is one row of the image, with all of its channels. Three kernels
 * with the same arguments make it: __dma_preload_ copies the row's elements into
 * local memory, the kernel computes there, __dma_postwrite_ copies the result
 * out. The copies of neighbouring work-groups run while this one computes; none
 * of the three waits for them. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void __dma_preload_@NAME@_kernel(
    __global const half *restrict src, __global half *restrict dst,
    int channels, float slope, __local half *restrict row_in,
    __local half *restrict row_out)
{
    const size_t row = get_global_size(0) * sizeof(half);
    const size_t plane = get_global_size(1) * row;

    /* From, to, bytes of a line here and there, bytes from line to line here
     * and there, all bytes: a row of each channel, which are a plane apart, to
     * rows one behind the other. */
    WorkGroupDmaCreateStrideTransaction(
        src + get_group_id(1) * get_global_size(0), row_in, row, row, plane,
        row, row * channels, 0);
}

__kernel void @NAME@_kernel(
    __global const half *restrict src, __global half *restrict dst,
    int channels, float slope, __local half *restrict row_in,
    __local half *restrict row_out)
{
    const int x = get_local_id(0), width = get_local_size(0);

#pragma unroll 4
    for (int c = 0; c < channels; c++) {
        const float v = (float)row_in[c * width + x];

        row_out[c * width + x] = (half)(v < 0 ? v * slope : v);
    }
}

__kernel void __dma_postwrite_@NAME@_kernel(
    __global const half *restrict src, __global half *restrict dst,
    int channels, float slope, __local half *restrict row_in,
    __local half *restrict row_out)
{
    const size_t row = get_global_size(0) * sizeof(half);
    const size_t plane = get_global_size(1) * row;

    WorkGroupDmaCreateStrideTransaction(
        row_out, dst + get_group_id(1) * get_global_size(0), row, row, row,
        plane, row * channels, 0);
}
