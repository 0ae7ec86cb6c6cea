/* Resampling with a triangle as wide as an output pixel is in the input, so
 * that scaling down skips no input pixel; scaling up it is bilinear.
 *
 * With s = W / W', r = max(s, 1) and output pixel x centred at
 * p = (x + 0.5) * s - 0.5 in the input, input pixel i weighs
 *
 *   1 - |i - p| / r    where that is positive
 *
 * along x, likewise along y; a pixel's weight is the product of the two, and
 * the sum of weighted pixels is divided by the sum of weights. All arithmetic
 * is float, in order of rows, then columns.
 *
 * One work-item is one output element; dimension 2 counts the channels of all
 * batch items. Items of a row take as many steps each, columns outside the
 * plane weighing nothing, so that they stay together. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

static float weight(int i, int n, float centre, float radius)
{
    const float w = 1.0f - fabs((float)i - centre) / radius;

    return i >= 0 && i < n && w > 0.0f ? w : 0.0f;
}

__kernel void resample_antialias(__global const half *restrict src,
                                 __global half *restrict dst, int H, int W)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int plane = get_global_id(2);
    const int out_W = get_global_size(0), out_H = get_global_size(1);

    const float scale_x = (float)W / (float)out_W;
    const float scale_y = (float)H / (float)out_H;
    const float radius_x = fmax(scale_x, 1.0f), radius_y = fmax(scale_y, 1.0f);
    const float centre_x = ((float)x + 0.5f) * scale_x - 0.5f;
    const float centre_y = ((float)y + 0.5f) * scale_y - 0.5f;
    const int first_x = (int)floor(centre_x - radius_x);
    const int first_y = (int)floor(centre_y - radius_y);
    const int steps_x = (int)ceil(2.0f * radius_x) + 1;
    const int steps_y = (int)ceil(2.0f * radius_y) + 1;
    float sum = 0.0f, weights = 0.0f;

    for (int k = 0; k < steps_y; k++) {
        const int i = first_y + k;
        const float weight_y = weight(i, H, centre_y, radius_y);
        __global const half *row = src + (plane * H + clamp(i, 0, H - 1)) * W;

        for (int l = 0; l < steps_x; l++) {
            const int j = first_x + l;
            const float w = weight_y * weight(j, W, centre_x, radius_x);

            sum += w * (float)row[clamp(j, 0, W - 1)];
            weights += w;
        }
    }

    dst[(plane * out_H + y) * out_W + x] = convert_half(sum / weights);
}
