/* Convolution of signs with signs, 3 x 3 window, stride 1: binary1x1.cl summed
 * over the taps of the window that lie in the plane. Taps outside add nothing.
 * Sums are int; the result is rounded to half once. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void binary3x3(__global const ushort *restrict signs,
                        __global const ushort *restrict weights,
                        __global half *restrict dst, int C, int outputs)
{
    const int W = get_global_size(0), H = get_global_size(1);
    const int x = get_global_id(0), y = get_global_id(1);
    const int b = get_global_id(2) / outputs, o = get_global_id(2) % outputs;
    const int words = (C + 15) / 16;
    int sum = 0;

    for (int i = 0; i < 3; i++) {
        const int sy = y + i - 1;

        if (sy < 0 || sy >= H)
            continue;
        for (int j = 0; j < 3; j++) {
            const int sx = x + j - 1, inside = clamp(sx, 0, W - 1);
            int differ = 0;

            for (int w = 0; w < words; w++) {
                const ushort in =
                    signs[((b * words + w) * H + sy) * W + inside];
                const ushort tap = weights[((o * 3 + i) * 3 + j) * words + w];

                differ += popcount((ushort)(in ^ tap));
            }
            sum += sx == inside ? C - 2 * differ : 0;
        }
    }

    dst[(get_global_id(2) * H + y) * W + x] = convert_half((float)sum);
}
