/* Global response normalisation, straight from DDR.
 *
 *   dst[c] = src[c] * rsqrt(bias + sum over c of src[c] * src[c])
 *
 * for every pixel. One work-item is one pixel, one work-group one image row.
 * Squares and their sum, in channel order, are float; the factor becomes half
 * before it multiplies. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void grn(__global const half *restrict src,
                  __global half *restrict dst, int C, float bias)
{
    const int plane = get_global_size(0) * get_global_size(1);
    const int pixel = get_global_id(2) * C * plane +
                      get_global_id(1) * get_global_size(0) + get_global_id(0);
    float sum = bias;

#pragma unroll 4
    for (int c = 0; c < C; c++) {
        const float v = (float)src[c * plane + pixel];

        sum += v * v;
    }

    const half factor = convert_half(rsqrt(sum));

#pragma unroll 4
    for (int c = 0; c < C; c++)
        dst[c * plane + pixel] = src[c * plane + pixel] * factor;
}
