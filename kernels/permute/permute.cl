/* Dimensions in another order.
 *
 *   dst[i0][i1][i2][i3] = src[j0][j1][j2][j3]  with  j[order[k]] = ik
 *
 * so that dimension k of dst is dimension order[k] of src. One work-item is one
 * output element, one work-group one output row; dimension 2 of the work size
 * counts the channels of all batch items of dst.
 *
 * Stores are contiguous. Loads are as far apart as neighbours along that
 * dimension of src which became the last. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* Elements from one index of a dimension of src to the next. */
static int step(int dimension, int C, int H, int W)
{
    return dimension == 3   ? 1
           : dimension == 2 ? W
           : dimension == 1 ? H * W
                            : C * H * W;
}

__kernel void permute(__global const half *restrict src,
                      __global half *restrict dst, int C, int H, int W,
                      int out_C, int order_0, int order_1, int order_2,
                      int order_3)
{
    const int out_W = get_global_size(0), out_H = get_global_size(1);
    const int x = get_global_id(0), y = get_global_id(1);
    const int plane = get_global_id(2);
    const int from = plane / out_C * step(order_0, C, H, W) +
                     plane % out_C * step(order_1, C, H, W) +
                     y * step(order_2, C, H, W) + x * step(order_3, C, H, W);

    dst[(plane * out_H + y) * out_W + x] = src[from];
}
