/* Convolution of signs with signs, one pixel at a time. A bit set is +1, a bit
 * clear -1: their product is +1 where the bits are equal (XNOR), so
 *
 *   dst[b][o][y][x] = C - 2 * (bits that differ over all words)
 *
 * Bits of channels that do not exist are 0 on both sides and never differ. One
 * work-item is one output element; dimension 2 counts the output channels of
 * all items of the batch. Sums are int; the result is rounded to half once. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void binary1x1(__global const ushort *restrict signs,
                        __global const ushort *restrict weights,
                        __global half *restrict dst, int C, int outputs)
{
    const int plane = get_global_size(0) * get_global_size(1);
    const int pixel = get_global_id(1) * get_global_size(0) + get_global_id(0);
    const int b = get_global_id(2) / outputs, o = get_global_id(2) % outputs;
    const int words = (C + 15) / 16;
    int differ = 0;

    for (int w = 0; w < words; w++) {
        const ushort in = signs[(b * words + w) * plane + pixel];

        differ += popcount((ushort)(in ^ weights[o * words + w]));
    }

    dst[get_global_id(2) * plane + pixel] =
        convert_half((float)(C - 2 * differ));
}
