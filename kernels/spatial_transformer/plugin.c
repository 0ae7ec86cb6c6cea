/* An affine map of the image, bilinear; everything is float. */
#include <math.h>

#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

static size_t at(const vpu_plugin_tensor *t, size_t b, size_t f, size_t y,
                 size_t x)
{
    return ((b * dim(t, 1) + f) * dim(t, 2) + y) * dim(t, 3) + x;
}

/* Row `row` of theta applied to pixel (y, x) of out: where in n pixels. */
static float looked_up(const vpu_plugin_tensor *theta, size_t row, size_t y,
                       size_t x, const vpu_plugin_tensor *out, size_t n)
{
    float px = (float)(2 * x + 1) / (float)dim(out, 3);
    float py = (float)(2 * y + 1) / (float)dim(out, 2);
    float p, q;

    px = px - 1;
    py = py - 1;
    p = get(theta, row * 3) * px;
    q = get(theta, row * 3 + 1) * py;
    p = p + q;
    p = p + get(theta, row * 3 + 2);
    p = p + 1;
    p = p * (float)n;
    p = p - 1;
    p = p / 2;
    if (p < -1)
        return -1;
    return p > (float)n ? (float)n : p;
}

static float mixed(const vpu_plugin_tensor *in, size_t b, size_t c, float sy,
                   float sx)
{
    const float H = (float)dim(in, 2), W = (float)dim(in, 3);
    float sum = 0;

    for (int k = 0; k < 4; k++) {
        float y = floorf(sy) + (float)(k / 2), wy = sy - floorf(sy);
        float x = floorf(sx) + (float)(k % 2), wx = sx - floorf(sx);
        float w, v = 0;

        if (k / 2 == 0)
            wy = 1 - wy;
        if (k % 2 == 0)
            wx = 1 - wx;
        w = wy * wx;
        if (y >= 0 && y < H && x >= 0 && x < W)
            v = get(in, at(in, b, c, (size_t)y, (size_t)x));
        v = w * v;
        sum = k ? sum + v : v;
    }
    return sum;
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    size_t C = dim(in, 1), H = dim(out, 2), W = dim(out, 3);

    (void)self;
    if (n_in != 2 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 2, outputs: 1");
    for (size_t i = 0; i < vpu_plugin_elements(&out->desc); i++) {
        size_t x = i % W, y = i / W % H, c = i / W / H % C, b = i / W / H / C;
        float sx = looked_up(&in[1], b * 2, y, x, out, dim(in, 3));
        float sy = looked_up(&in[1], b * 2 + 1, y, x, out, dim(in, 2));

        put(out, i, mixed(in, b, c, sy, sx));
    }
    return 0;
}

static const char *const types[] = {"SpatialTransformer", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "spatial_transformer",
                                  .version = "1",
                                  .types = types,
                                  .init = vpu_plugin_keep,
                                  .formats = vpu_plugin_halves,
                                  .shape = NULL,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
