/* Bytes to halves: times scale, plus bias, each rounded to float. */
#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "scale", error) ||
           vpu_plugin_lacks(layer, "bias", error) ||
           vpu_plugin_keep(layer, self, error);
}

static int formats(void *self, const vpu_plugin_desc *in, uint32_t n_in,
                   const vpu_plugin_desc *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    (void)self;
    return vpu_plugin_refuses(in, n_in, VPU_PLUGIN_U8, error) ||
           vpu_plugin_refuses(out, n_out, VPU_PLUGIN_F16, error);
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    float scale = (float)vpu_plugin_number(l, "scale", 1);
    float bias = (float)vpu_plugin_number(l, "bias", 0);

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    for (uint64_t i = 0; i < vpu_plugin_elements(&out->desc); i++) {
        float v = get(in, i);

        v = v * scale;
        v = v + bias;
        put(out, i, v);
    }
    return 0;
}

static const char *const types[] = {"CvtU8F16", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "cvtu8f16",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = formats,
                                  .shape = vpu_plugin_same_shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
