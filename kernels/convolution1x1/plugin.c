/* Sums over channels in half, one product after the other. */
#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    size_t C = dim(in, 1), O = dim(out, 1);
    size_t plane = (size_t)dim(in, 2) * dim(in, 3);

    (void)self;
    if (n_in != 2 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 2, outputs: 1");
    for (size_t i = 0; i < vpu_plugin_elements(&out->desc); i++) {
        size_t p = i % plane, o = i / plane % O, b = i / plane / O;
        float sum = 0;

        for (size_t c = 0; c < C; c++) {
            float product =
                get(&in[0], (b * C + c) * plane + p) * get(&in[1], o * C + c);

            sum = vpu_plugin_round(sum + vpu_plugin_round(product));
        }
        put(out, i, sum);
    }
    return 0;
}

static const char *const types[] = {"Convolution1x1", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "convolution1x1",
                                  .version = "1",
                                  .types = types,
                                  .init = vpu_plugin_keep,
                                  .formats = vpu_plugin_halves,
                                  .shape = NULL,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
