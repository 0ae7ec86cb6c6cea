/* A rectifier that lets a part of negative values through. The product is
 * float. */
#include "vpu_plugin.h"

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "negative_slope", error) ||
           vpu_plugin_keep(layer, self, error);
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    float slope = (float)vpu_plugin_number(self, "negative_slope", 0);

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    for (size_t i = 0; i < vpu_plugin_elements(&in->desc); i++) {
        float v = vpu_plugin_read(in, i);

        vpu_plugin_write(out, i, v > 0 ? v : v * slope);
    }
    return 0;
}

static const char *const types[] = {"LeakyRelu", "LeakyReluDma", "LeakyReluGpu",
                                    NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "leaky_relu",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = vpu_plugin_halves,
                                  .shape = vpu_plugin_same_shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
