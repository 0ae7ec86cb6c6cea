/* @NAME@: every element, divided by the largest magnitude among the channels of
 * its pixel plus eps. For batch 1.
 *
 * Two stages: the first writes the magnitudes into a buffer, the second divides.
 * The second begins when all of the first is done. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* One work-item looks at one pixel. */
__kernel void @NAME@_peaks(
    __global const half *restrict src, __global half *restrict peaks,
    int channels)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int width = get_global_size(0), height = get_global_size(1);
    float peak = 0;

#pragma unroll 4
    for (int c = 0; c < channels; c++)
        peak = fmax(peak, fabs((float)src[(c * height + y) * width + x]));
    peaks[y * width + x] = (half)peak;
}

/* One work-item computes one pixel. */
__kernel void @NAME@_scale(
    __global const half *restrict src, __global const half *restrict peaks,
    __global half *restrict dst, int channels, float eps)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int width = get_global_size(0), height = get_global_size(1);
    const float divisor = (float)peaks[y * width + x] + eps;

#pragma unroll 4
    for (int c = 0; c < channels; c++) {
        const int i = (c * height + y) * width + x;

        dst[i] = (half)((float)src[i] / divisor);
    }
}
