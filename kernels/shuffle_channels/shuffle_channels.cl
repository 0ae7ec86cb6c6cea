/* Channel shuffle: the channels as a groups x (C / groups) matrix, transposed.
 *
 * One work-item is one output element; dimension 2 counts the channels of all
 * batch items. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void shuffle_channels(__global const half *restrict src,
                               __global half *restrict dst, int C, int groups)
{
    const int plane = get_global_size(0) * get_global_size(1);
    const int pixel =
        get_global_id(1) * get_global_size(0) + get_global_id(0);
    const int to = get_global_id(2), c = to % C;
    const int from = to - c + c % groups * (C / groups) + c / groups;

    dst[to * plane + pixel] = src[from * plane + pixel];
}
