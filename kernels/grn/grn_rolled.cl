/* Global response normalisation, straight from DDR: grn.cl with its loops left
 * as they are written. Every channel pays the latency of its load and a branch;
 * what `#pragma unroll 4` gains is the difference between the two. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void grn_rolled(__global const half *restrict src,
                         __global half *restrict dst, int C, float bias)
{
    const int plane = get_global_size(0) * get_global_size(1);
    const int pixel = get_global_id(2) * C * plane +
                      get_global_id(1) * get_global_size(0) + get_global_id(0);
    float sum = bias;

#pragma unroll 1
    for (int c = 0; c < C; c++) {
        const float v = (float)src[c * plane + pixel];

        sum += v * v;
    }

    const half factor = convert_half(rsqrt(sum));

#pragma unroll 1
    for (int c = 0; c < C; c++)
        dst[c * plane + pixel] = src[c * plane + pixel] * factor;
}
