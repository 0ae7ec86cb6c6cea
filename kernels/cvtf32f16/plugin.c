/* Floats to halves. */
#include "vpu_plugin.h"

static int formats(void *self, const vpu_plugin_desc *in, uint32_t n_in,
                   const vpu_plugin_desc *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    (void)self;
    return vpu_plugin_refuses(in, n_in, VPU_PLUGIN_F32, error) ||
           vpu_plugin_refuses(out, n_out, VPU_PLUGIN_F16, error);
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    (void)self;
    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    for (uint64_t i = 0; i < vpu_plugin_elements(&in->desc); i++)
        vpu_plugin_write(out, i, vpu_plugin_read(in, i));
    return 0;
}

static const char *const types[] = {"CvtF32F16", "CvtF32F16Store", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "cvtf32f16",
                                  .version = "1",
                                  .types = types,
                                  .init = vpu_plugin_keep,
                                  .formats = formats,
                                  .shape = vpu_plugin_same_shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
