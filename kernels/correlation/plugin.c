/* Two tensors, pixel against the five by five around it: mean over channels. */
#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

static size_t at(const vpu_plugin_tensor *t, size_t b, size_t f, size_t y,
                 size_t x)
{
    return ((b * dim(t, 1) + f) * dim(t, 2) + y) * dim(t, 3) + x;
}

static void correlate(const vpu_plugin_tensor *in, size_t b, size_t y, size_t x,
                      const vpu_plugin_tensor *out)
{
    size_t C = dim(in, 1), H = dim(in, 2), W = dim(in, 3);

    for (size_t k = 0; k < 25; k++) {
        size_t oy = y + k / 5, ox = x + k % 5; /* both two too large */
        float sum = 0;

        if (oy >= 2 && oy < H + 2 && ox >= 2 && ox < W + 2)
            for (size_t c = 0; c < C; c++) {
                float product = get(&in[0], at(in, b, c, y, x)) *
                                get(&in[1], at(in, b, c, oy - 2, ox - 2));

                sum = sum + product;
            }
        put(out, at(out, b, k, y, x), sum / (float)C);
    }
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    (void)self;
    if (n_in != 2 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 2, outputs: 1");
    for (size_t b = 0; b < dim(in, 0); b++)
        for (size_t y = 0; y < dim(in, 2); y++)
            for (size_t x = 0; x < dim(in, 3); x++)
                correlate(in, b, y, x, out);
    return 0;
}

static const char *const types[] = {"Correlation", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "correlation",
                                  .version = "1",
                                  .types = types,
                                  .init = vpu_plugin_keep,
                                  .formats = vpu_plugin_halves,
                                  .shape = NULL,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
