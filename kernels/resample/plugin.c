/* The nearest pixel, or with anti-aliasing a triangle as wide as the scale; the
 * latter in float. */
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

/* Weight of pixel i of n for output pixel `to` of n_to. */
static float triangle(size_t i, size_t n, size_t to, size_t n_to)
{
    float scale = (float)n / (float)n_to, radius = scale < 1 ? 1 : scale;
    float centre = (float)to + 0.5f, w;

    centre = centre * scale;
    centre = centre - 0.5f;
    w = fabsf((float)i - centre);
    w = w / radius;
    w = 1.0f - w;
    return w > 0 ? w : 0;
}

static float filtered(const vpu_plugin_tensor *in, size_t first, size_t y,
                      size_t x, const vpu_plugin_tensor *out)
{
    size_t H = dim(in, 2), W = dim(in, 3);
    float sum = 0, weights = 0;

    for (size_t i = 0; i < H; i++)
        for (size_t j = 0; j < W; j++) {
            float wy = triangle(i, H, y, dim(out, 2));
            float w = wy * triangle(j, W, x, dim(out, 3));
            float product;

            if (!(w > 0))
                continue;
            product = w * get(in, first + i * W + j);
            sum = sum + product;
            weights = weights + w;
        }
    return sum / weights;
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    int smooth = strstr(l->type, "Antialias") != NULL;
    size_t H = dim(out, 2), W = dim(out, 3), F = dim(out, 1);

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    for (size_t i = 0; i < vpu_plugin_elements(&out->desc); i++) {
        size_t x = i % W, y = i / W % H, f = i / W / H;

        if (smooth)
            put(out, i, filtered(in, at(in, 0, f, 0, 0), y, x, out));
        else
            ((uint16_t *)out->data)[i] = ((const uint16_t *)in->data)[at(
                in, f / F, f % F, y * dim(in, 2) / H, x * dim(in, 3) / W)];
    }
    return 0;
}

static const char *const types[] = {"Resample", "ResampleFactor",
                                    "ResampleAntialias", "ResampleGpu", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "resample",
                                  .version = "1",
                                  .types = types,
                                  .init = vpu_plugin_keep,
                                  .formats = vpu_plugin_halves,
                                  .shape = NULL,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
