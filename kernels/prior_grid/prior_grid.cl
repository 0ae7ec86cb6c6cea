/* Boxes of a detector's proposals: every prior at every pixel of a grid.
 *
 *   dst[(y * W + x) * N + n] = priors[n] + (sx, sy, sx, sy),
 *   sx = (x + 0.5) * step_x, sy = (y + 0.5) * step_y
 *
 * where N priors are boxes of four numbers around the origin. A step is the
 * layer's stride, or where that is 0 what the image has per pixel of the grid.
 * One work-item is a pixel of the grid. Sums are float, rounded to half once.
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void prior_grid(__global const half *restrict priors,
                         __global half *restrict dst, int N, int image_H,
                         int image_W, float stride_y, float stride_x)
{
    const int x = get_global_id(0), W = get_global_size(0);
    const int y = get_global_id(1), H = get_global_size(1);
    const float step_x = stride_x > 0.0f ? stride_x : (float)image_W / (float)W;
    const float step_y = stride_y > 0.0f ? stride_y : (float)image_H / (float)H;
    const float sx = ((float)x + 0.5f) * step_x;
    const float sy = ((float)y + 0.5f) * step_y;
    const float4 shift = (float4)(sx, sy, sx, sy);

    for (int n = 0; n < N; n++) {
        const float4 box = convert_float4(vload4(n, priors)) + shift;

        vstore4(convert_half4(box), (y * W + x) * N + n, dst);
    }
}
