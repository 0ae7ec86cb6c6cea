/* Correlation of two tensors over small displacements.
 *
 *   dst[b][i * D + j][y][x] =
 *       sum over c of a[b][c][y][x] * b[b][c][y + i - R][x + j - R] / C
 *
 * for i, j = 0 .. D - 1, D = 2 * R + 1. One work-item is one pixel, one
 * work-group one image row. For each channel the items bring the D rows of b
 * that the row meets to local memory, zeros where it has none, R zeros at both
 * ends of each, and wait for each other before and after using them. Sums are
 * float, in channel order. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define R 2
#define D (2 * R + 1)

__kernel void correlation(__global const half *restrict a,
                          __global const half *restrict b,
                          __global half *restrict dst, int C,
                          __local half *restrict rows)
{
    const int W = get_global_size(0), H = get_global_size(1);
    const int x = get_global_id(0), y = get_global_id(1);
    const int first = get_global_id(2) * C, wide = W + 2 * R;
    float sums[D * D];

    for (int k = 0; k < D * D; k++)
        sums[k] = 0.0f;

    for (int c = first; c < first + C; c++) {
        for (int k = x; k < D * wide; k += W) {
            const int from_y = y + k / wide - R, from_x = k % wide - R;

            rows[k] = from_y < 0 || from_y >= H || from_x < 0 || from_x >= W
                          ? (half)0
                          : b[(c * H + from_y) * W + from_x];
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        const float v = (float)a[(c * H + y) * W + x];

        for (int k = 0; k < D * D; k++)
            sums[k] += v * (float)rows[k / D * wide + x + k % D];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    for (int k = 0; k < D * D; k++)
        dst[((get_global_id(2) * D * D + k) * H + y) * W + x] =
            convert_half(sums[k] / (float)C);
}
