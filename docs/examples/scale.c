#include "vpu_plugin.h"

/* What the layer should compute: every element times factor, plus offset. */
static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    float factor = (float)vpu_plugin_number(self, "factor", 1);
    float offset = (float)vpu_plugin_number(self, "offset", 0);

    (void)error;
    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected one input and one output");
    for (uint64_t i = 0; i < vpu_plugin_elements(&in->desc); i++)
        vpu_plugin_write(out, i, vpu_plugin_read(in, i) * factor + offset);
    return 0;
}

static const char *const types[] = {"Scale", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "scale",
                                  .version = "1",
                                  .types = types,
                                  .init = vpu_plugin_keep,
                                  .formats = vpu_plugin_halves,
                                  .shape = vpu_plugin_same_shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
