/* Priors moved to every pixel of a grid. The layer uses of inputs 1 and 2 only
 * their shapes, so they come as what the binding made of them. */
#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "image_H", error) ||
           vpu_plugin_lacks(layer, "image_W", error) ||
           vpu_plugin_lacks(layer, "@global0", error) ||
           vpu_plugin_lacks(layer, "@global1", error) ||
           vpu_plugin_keep(layer, self, error);
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    size_t N = dim(in, 0), W = (size_t)vpu_plugin_number(l, "@global0", 1);
    float step[2] = {(float)vpu_plugin_number(l, "stride_x", 0),
                     (float)vpu_plugin_number(l, "stride_y", 0)};

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    for (int d = 0; d < 2; d++)
        if (step[d] <= 0)
            step[d] =
                (float)vpu_plugin_number(l, d ? "image_H" : "image_W", 1) /
                (float)vpu_plugin_number(l, d ? "@global1" : "@global0", 1);
    for (size_t i = 0; i < vpu_plugin_elements(&out->desc); i++) {
        size_t k = i % 4, n = i / 4 % N, pixel = i / 4 / N;
        float v = (float)(k % 2 ? pixel / W : pixel % W) + 0.5f;

        v = v * step[k % 2];
        v = get(in, n * 4 + k) + v;
        put(out, i, v);
    }
    return 0;
}

static const char *const types[] = {"PriorGrid", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "prior_grid",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = vpu_plugin_halves,
                                  .shape = NULL,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
