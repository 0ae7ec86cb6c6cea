/* Squares of stride by stride pixels become channels. */
#include "vpu_plugin.h"

#define dim vpu_plugin_dim

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "stride", error) ||
           vpu_plugin_keep(layer, self, error);
}

static int shape(void *self, const vpu_plugin_desc *in, uint32_t n_in,
                 vpu_plugin_desc *out, uint32_t n_out, vpu_plugin_error *error)
{
    uint32_t s = (uint32_t)vpu_plugin_number(self, "stride", 1);

    if (n_in != 1 || n_out != 1 || in->rank != 4)
        return vpu_plugin_fail(error, "expected one tensor of rank 4");
    if (!s || in->dims[2] % s || in->dims[3] % s)
        return vpu_plugin_fail(error, "stride does not divide the image");
    out->rank = 4;
    out->dims[0] = in->dims[0];
    out->dims[1] = in->dims[1] * s * s;
    out->dims[2] = in->dims[2] / s;
    out->dims[3] = in->dims[3] / s;
    return 0;
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    size_t s = (size_t)vpu_plugin_number(l, "stride", 1), i = 0;
    size_t C = dim(in, 1), H = dim(in, 2), W = dim(in, 3);

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    for (size_t b = 0; b < dim(in, 0); b++)
        for (size_t c = 0; c < C; c++)
            for (size_t y = 0; y < H; y++)
                for (size_t x = 0; x < W; x++, i++) {
                    size_t to = b * s * s * C + (y % s * s + x % s) * C + c;

                    to = (to * (H / s) + y / s) * (W / s) + x / s;
                    ((uint16_t *)out->data)[to] =
                        ((const uint16_t *)in->data)[i];
                }
    return 0;
}

static const char *const types[] = {
    "Reorg",    "ReorgClamp", "ReorgExit",     "ReorgLine", "ReorgUnrolled",
    "ReorgDma", "ReorgLast",  "ReorgLastLine", "ReorgGpu",  NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "reorg",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = vpu_plugin_halves,
                                  .shape = shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
