/* Global response normalisation, straight from DDR, vectorised by hand: grn.cl
 * with eight neighbouring pixels in every work-item.
 *
 * The last item of a row whose width is no multiple of eight takes the pixels
 * that are left one at a time. Rows start anywhere, so vectors are loaded and
 * stored with vload8 and vstore8, which ask for no alignment. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

static void one_pixel(__global const half *restrict src,
                      __global half *restrict dst, int C, int plane, float bias)
{
    float sum = bias;

    for (int c = 0; c < C; c++) {
        const float v = (float)src[c * plane];

        sum += v * v;
    }

    const half factor = convert_half(rsqrt(sum));

    for (int c = 0; c < C; c++)
        dst[c * plane] = src[c * plane] * factor;
}

static void eight_pixels(__global const half *restrict src,
                         __global half *restrict dst, int C, int plane,
                         float bias)
{
    float8 sum = bias;

#pragma unroll 4
    for (int c = 0; c < C; c++) {
        const float8 v = convert_float8(vload8(0, src + c * plane));

        sum += v * v;
    }

    const half8 factor = convert_half8(rsqrt(sum));

#pragma unroll 4
    for (int c = 0; c < C; c++)
        vstore8(vload8(0, src + c * plane) * factor, 0, dst + c * plane);
}

__kernel void grn_vector(__global const half *restrict src,
                         __global half *restrict dst, int C, int W, float bias)
{
    const int H = get_global_size(1), plane = W * H;
    const int row = get_global_id(2) * C * plane + get_global_id(1) * W;
    int x = get_global_id(0) * 8;

    if (x + 8 <= W)
        eight_pixels(src + row + x, dst + row + x, C, plane, bias);
    else
        for (; x < W; x++)
            one_pixel(src + row + x, dst + row + x, C, plane, bias);
}
