/* Channels of some groups, dealt one from each in turn. */
#include "vpu_plugin.h"

#define dim vpu_plugin_dim

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "group", error) ||
           vpu_plugin_keep(layer, self, error);
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    size_t G = (size_t)vpu_plugin_number(l, "group", 1), from = 0, K;
    size_t plane = (size_t)dim(in, 2) * dim(in, 3);

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    if (!G || dim(in, 1) % G)
        return vpu_plugin_fail(error, "group does not divide the channels");
    K = dim(in, 1) / G;
    for (size_t b = 0; b < dim(in, 0); b++)
        for (size_t g = 0; g < G; g++)
            for (size_t k = 0; k < K; k++)
                for (size_t i = 0; i < plane; i++, from++)
                    ((uint16_t *)out->data)[((b * K + k) * G + g) * plane + i] =
                        ((const uint16_t *)in->data)[from];
    return 0;
}

static const char *const types[] = {"ShuffleChannels", "ShuffleChannelsGpu",
                                    NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "shuffle_channels",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = vpu_plugin_halves,
                                  .shape = vpu_plugin_same_shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
