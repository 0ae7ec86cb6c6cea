/* Rectifier with a slope, straight from DDR.
 *
 *   dst = src > 0 ? src : src * slope
 *
 * One work-item is one element, one work-group one row; dimension 2 counts the
 * channels of all batch items. The product is float and rounded to half once.
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void leaky_relu(__global const half *restrict src,
                         __global half *restrict dst, float slope)
{
    const int W = get_global_size(0), H = get_global_size(1);
    const int i =
        (get_global_id(2) * H + get_global_id(1)) * W + get_global_id(0);
    const float v = (float)src[i];

    dst[i] = convert_half(v > 0.0f ? v : v * slope);
}
