/* Nearest-neighbour resampling: every output pixel takes the input pixel that
 * its upper left corner falls into.
 *
 * One work-item is one output element; dimension 2 counts the channels of all
 * batch items. Positions are integers, so there is no rounding. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void resample(__global const half *restrict src,
                       __global half *restrict dst, int H, int W)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int plane = get_global_id(2);
    const int out_W = get_global_size(0), out_H = get_global_size(1);
    const int from_x = x * W / out_W, from_y = y * H / out_H;

    dst[(plane * out_H + y) * out_W + x] =
        src[(plane * H + from_y) * W + from_x];
}
