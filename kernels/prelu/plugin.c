/* A rectifier with a slope for each channel, from input 1. The product is
 * half. */
#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    size_t C, plane;

    (void)self;
    if (n_in != 2 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 2, outputs: 1");
    C = dim(in, 1);
    plane = (size_t)dim(in, 2) * dim(in, 3);
    if (vpu_plugin_elements(&in[1].desc) != C)
        return vpu_plugin_fail(error, "expected a slope for each channel");
    for (size_t i = 0; i < vpu_plugin_elements(&in->desc); i++) {
        float v = get(in, i);

        put(out, i, v > 0 ? v : v * get(&in[1], i / plane % C));
    }
    return 0;
}

static const char *const types[] = {"PReLU", "PReLUGpu", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "prelu",
                                  .version = "1",
                                  .types = types,
                                  .init = vpu_plugin_keep,
                                  .formats = vpu_plugin_halves,
                                  .shape = vpu_plugin_same_shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
