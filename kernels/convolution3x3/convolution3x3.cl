/* Convolution with a 3 x 3 window, stride 1, one pixel of zeros around.
 *
 *   dst[b][o][y][x] = sum over c, i, j of
 *       src[b][c][y + i - 1][x + j - 1] * weights[o][c][i][j]
 *
 * One work-item is one output element; dimension 2 counts output channels of
 * all batch items. Sums are float, in order of c, i, j; taps outside the plane
 * are left out: above and below for the whole row, left and right by choosing
 * the old sum, so that the items of a row stay together. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void convolution3x3(__global const half *restrict src,
                             __global const half *restrict weights,
                             __global half *restrict dst, int C, int outputs)
{
    const int W = get_global_size(0), H = get_global_size(1);
    const int x = get_global_id(0), y = get_global_id(1);
    const int b = get_global_id(2) / outputs, o = get_global_id(2) % outputs;
    float sum = 0.0f;

    for (int c = 0; c < C; c++) {
        __global const half *from = src + (b * C + c) * H * W;
        __global const half *w = weights + (o * C + c) * 9;

        for (int i = 0; i < 3; i++) {
            const int sy = y + i - 1;

            if (sy < 0 || sy >= H)
                continue;
            for (int j = 0; j < 3; j++) {
                const int sx = x + j - 1, inside = clamp(sx, 0, W - 1);
                const float product =
                    (float)from[sy * W + inside] * (float)w[i * 3 + j];

                sum = sx == inside ? sum + product : sum;
            }
        }
    }

    dst[(get_global_id(2) * H + y) * W + x] = convert_half(sum);
}
