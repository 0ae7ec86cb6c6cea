/* Three by three, borders of zeros; sums are float, channel by channel and then
 * row by row of the window. Weights are input 1 or the model's. */
#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

static size_t at(const vpu_plugin_tensor *t, size_t b, size_t f, size_t y,
                 size_t x)
{
    return ((b * dim(t, 1) + f) * dim(t, 2) + y) * dim(t, 3) + x;
}

static float window(const vpu_plugin_tensor *in, const uint16_t *weights,
                    size_t b, size_t o, size_t y, size_t x)
{
    size_t C = dim(in, 1), H = dim(in, 2), W = dim(in, 3);
    float sum = 0;

    for (size_t c = 0; c < C; c++)
        for (size_t k = 0; k < 9; k++) {
            size_t sy = y + k / 3, sx = x + k % 3; /* both one too large */
            float product;

            if (sy < 1 || sy > H || sx < 1 || sx > W)
                continue;
            product = get(in, at(in, b, c, sy - 1, sx - 1)) *
                      vpu_plugin_half_to_float(weights[(o * C + c) * 9 + k]);
            sum = sum + product;
        }
    return sum;
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    const vpu_plugin_blob *blob = vpu_plugin_find_blob(l, "weights");
    const uint16_t *weights = n_in == 2 ? in[1].data : blob ? blob->data : NULL;
    uint64_t bytes = n_in == 2 ? in[1].bytes : blob ? blob->bytes : 0;
    size_t i = 0;

    if (!n_in || n_out != 1 ||
        bytes < (uint64_t)dim(in, 1) * dim(out, 1) * 9 * 2)
        return vpu_plugin_fail(error, "expected an image, and weights for it");
    for (size_t b = 0; b < dim(out, 0); b++)
        for (size_t o = 0; o < dim(out, 1); o++)
            for (size_t y = 0; y < dim(out, 2); y++)
                for (size_t x = 0; x < dim(out, 3); x++)
                    put(out, i++, window(in, weights, b, o, y, x));
    return 0;
}

static const char *const types[] = {"Convolution3x3", "Convolution3x3Model",
                                    NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "convolution3x3",
                                  .version = "1",
                                  .types = types,
                                  .init = vpu_plugin_keep,
                                  .formats = vpu_plugin_halves,
                                  .shape = NULL,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
