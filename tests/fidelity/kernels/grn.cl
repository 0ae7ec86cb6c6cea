/* GRN from DDR for ratios R3 and R4: the unroll factor is UNROLL, and
 * -D NO_RESTRICT leaves the pointers unqualified. The squares are half
 * products, their sum is float. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#ifndef UNROLL
#define UNROLL 4
#endif
#ifdef NO_RESTRICT
#define ALONE
#else
#define ALONE restrict
#endif

__kernel void grn_ddr(__global const half *ALONE src, __global half *ALONE dst,
                      int C, float bias)
{
    const int plane = get_global_size(0) * get_global_size(1);
    const int pixel = get_global_id(2) * C * plane +
                      get_global_id(1) * get_global_size(0) + get_global_id(0);
    float sum = bias;

#pragma unroll UNROLL
    for (int c = 0; c < C; c++) {
        const half v = src[c * plane + pixel];

        sum += (float)(v * v);
    }

    const float factor = native_rsqrt(sum);

#pragma unroll UNROLL
    for (int c = 0; c < C; c++)
        dst[c * plane + pixel] = (half)((float)src[c * plane + pixel] * factor);
}
