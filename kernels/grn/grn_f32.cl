/* Global response normalisation, straight from DDR, on float tensors: grn.cl
 * with nothing rounded to half. */
__kernel void grn_f32(__global const float *restrict src,
                      __global float *restrict dst, int C, float bias)
{
    const int plane = get_global_size(0) * get_global_size(1);
    const int pixel = get_global_id(2) * C * plane +
                      get_global_id(1) * get_global_size(0) + get_global_id(0);
    float sum = bias;

#pragma unroll 4
    for (int c = 0; c < C; c++) {
        const float v = src[c * plane + pixel];

        sum += v * v;
    }

    const float factor = rsqrt(sum);

#pragma unroll 4
    for (int c = 0; c < C; c++)
        dst[c * plane + pixel] = src[c * plane + pixel] * factor;
}
