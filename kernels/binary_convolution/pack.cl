/* Signs of a tensor as bits, sixteen channels to a word:
 *
 *   bit k of dst[b][w][y][x] = src[b][w * 16 + k][y][x] > threshold
 *
 * Bits of channels that do not exist are 0. One work-item makes one word;
 * dimension 2 counts the words of all items of the batch. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void pack(__global const half *restrict src,
                   __global ushort *restrict dst, int C, float threshold)
{
    const int plane = get_global_size(0) * get_global_size(1);
    const int pixel = get_global_id(1) * get_global_size(0) + get_global_id(0);
    const int words = (C + 15) / 16;
    const int b = get_global_id(2) / words, w = get_global_id(2) % words;
    const int bits = min(C - w * 16, 16);

    __global const half *from = src + (b * C + w * 16) * plane + pixel;
    int word = 0;

    for (int k = 0; k < bits; k++)
        word |= (float)from[k * plane] > threshold ? 1 << k : 0;

    dst[get_global_id(2) * plane + pixel] = word;
}
