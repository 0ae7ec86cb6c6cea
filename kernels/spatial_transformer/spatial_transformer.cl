/* Every output pixel looks up an input position that an affine map of its own
 * position gives. Positions run from -1 to 1 across a plane's outer edges, so
 * pixel i of n is at (2 * i + 1) / n - 1:
 *
 *   u = theta[0] * x + theta[1] * y + theta[2]
 *   v = theta[3] * x + theta[4] * y + theta[5]
 *
 * The four pixels around (u, v) are mixed by their distances; what lies outside
 * the plane is zero. One work-item is one output pixel: it finds its position
 * once and gathers from every channel. All arithmetic is float. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

/* Where (-1 .. 1) among n pixels; one pixel outside is as good as far away. */
static float position(float at, int n)
{
    return clamp(((at + 1.0f) * (float)n - 1.0f) * 0.5f, -1.0f, (float)n);
}

static float pixel(__global const half *plane, int y, int x, int H, int W)
{
    const int inside_y = clamp(y, 0, H - 1), inside_x = clamp(x, 0, W - 1);
    const float v = (float)plane[inside_y * W + inside_x];

    return inside_y == y && inside_x == x ? v : 0.0f;
}

__kernel void spatial_transformer(__global const half *restrict src,
                                  __global const half *restrict thetas,
                                  __global half *restrict dst, int C, int H,
                                  int W)
{
    const int out_x = get_global_id(0), out_W = get_global_size(0);
    const int out_y = get_global_id(1), out_H = get_global_size(1);
    const int b = get_global_id(2);
    const float x = (float)(2 * out_x + 1) / (float)out_W - 1.0f;
    const float y = (float)(2 * out_y + 1) / (float)out_H - 1.0f;

    __global const half *theta = thetas + b * 6;
    const float u = (float)theta[0] * x + (float)theta[1] * y + (float)theta[2];
    const float v = (float)theta[3] * x + (float)theta[4] * y + (float)theta[5];

    const float sx = position(u, W), sy = position(v, H);
    const float left = floor(sx), top = floor(sy);
    const float to_right = sx - left, to_bottom = sy - top;
    const float to_left = 1.0f - to_right, to_top = 1.0f - to_bottom;
    const int x0 = (int)left, y0 = (int)top;

    for (int c = 0; c < C; c++) {
        __global const half *plane = src + (b * C + c) * H * W;
        float sum;

        sum = to_top * to_left * pixel(plane, y0, x0, H, W);
        sum += to_top * to_right * pixel(plane, y0, x0 + 1, H, W);
        sum += to_bottom * to_left * pixel(plane, y0 + 1, x0, H, W);
        sum += to_bottom * to_right * pixel(plane, y0 + 1, x0 + 1, H, W);
        dst[((b * C + c) * out_H + out_y) * out_W + out_x] = convert_half(sum);
    }
}
