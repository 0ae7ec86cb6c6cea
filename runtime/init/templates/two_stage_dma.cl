/* @NAME@: every element, divided by the largest magnitude among the channels of
 * its pixel plus eps. For batch 1.
 *
 * Two stages: the first writes the magnitudes into a buffer, the second divides.
 * The second begins when all of the first is done.
 *
 * A work-group is one row of the image, with all of its channels. Three kernels
 * with the same arguments make it: __dma_preload_ copies what it reads into
 * local memory, the kernel computes there, __dma_postwrite_ copies the result
 * out. The copies of neighbouring work-groups run while this one computes; none
 * of the three waits for them. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* --- stage 0 -------------------------------------------------------------- */

__kernel void __dma_preload_@NAME@_peaks(
    __global const half *restrict src, __global half *restrict peaks,
    int channels, __local half *restrict row_in,
    __local half *restrict row_peaks)
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

__kernel void @NAME@_peaks(
    __global const half *restrict src, __global half *restrict peaks,
    int channels, __local half *restrict row_in,
    __local half *restrict row_peaks)
{
    const int x = get_local_id(0), width = get_local_size(0);
    float peak = 0;

#pragma unroll 4
    for (int c = 0; c < channels; c++)
        peak = fmax(peak, fabs((float)row_in[c * width + x]));
    row_peaks[x] = (half)peak;
}

__kernel void __dma_postwrite_@NAME@_peaks(
    __global const half *restrict src, __global half *restrict peaks,
    int channels, __local half *restrict row_in,
    __local half *restrict row_peaks)
{
    WorkGroupDmaCreateTransaction(row_peaks,
                                  peaks + get_group_id(1) * get_global_size(0),
                                  get_global_size(0) * sizeof(half), 0);
}

/* --- stage 1 -------------------------------------------------------------- */

__kernel void __dma_preload_@NAME@_scale(
    __global const half *restrict src, __global const half *restrict peaks,
    __global half *restrict dst, int channels, float eps,
    __local half *restrict row_in, __local half *restrict row_peaks,
    __local half *restrict row_out)
{
    const size_t row = get_global_size(0) * sizeof(half);
    const size_t plane = get_global_size(1) * row;
    const size_t first = get_group_id(1) * get_global_size(0);

    WorkGroupDmaCreateStrideTransaction(src + first, row_in, row, row, plane,
                                        row, row * channels, 0);
    WorkGroupDmaCreateTransaction(peaks + first, row_peaks, row, 0);
}

__kernel void @NAME@_scale(
    __global const half *restrict src, __global const half *restrict peaks,
    __global half *restrict dst, int channels, float eps,
    __local half *restrict row_in, __local half *restrict row_peaks,
    __local half *restrict row_out)
{
    const int x = get_local_id(0), width = get_local_size(0);
    const float divisor = (float)row_peaks[x] + eps;

#pragma unroll 4
    for (int c = 0; c < channels; c++)
        row_out[c * width + x] = (half)((float)row_in[c * width + x] / divisor);
}

__kernel void __dma_postwrite_@NAME@_scale(
    __global const half *restrict src, __global const half *restrict peaks,
    __global half *restrict dst, int channels, float eps,
    __local half *restrict row_in, __local half *restrict row_peaks,
    __local half *restrict row_out)
{
    const size_t row = get_global_size(0) * sizeof(half);
    const size_t plane = get_global_size(1) * row;

    WorkGroupDmaCreateStrideTransaction(
        row_out, dst + get_group_id(1) * get_global_size(0), row, row, row,
        plane, row * channels, 0);
}
