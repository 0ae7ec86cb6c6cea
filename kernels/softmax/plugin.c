/* Softmax over one dimension. */
#include <math.h>

#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "axis", error) ||
           vpu_plugin_keep(layer, self, error);
}

/* n values, step apart. */
static void softmax(const vpu_plugin_tensor *in, size_t first, size_t step,
                    size_t n, const vpu_plugin_tensor *out)
{
    float largest = get(in, first), sum = 0;

    for (size_t k = 1; k < n; k++)
        if (get(in, first + k * step) > largest)
            largest = get(in, first + k * step);
    for (size_t k = 0; k < n; k++) {
        float d = get(in, first + k * step) - largest;

        sum = sum + (float)exp((double)d);
    }
    for (size_t k = 0; k < n; k++) {
        float d = get(in, first + k * step) - largest;

        put(out, first + k * step, (float)exp((double)d) / sum);
    }
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    uint32_t axis = (uint32_t)vpu_plugin_number(l, "axis", 1);
    size_t step = 1, n = dim(in, axis);

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    for (uint32_t d = axis + 1; d < in->desc.rank; d++)
        step *= dim(in, d);
    for (size_t i = 0; i < vpu_plugin_elements(&in->desc); i++)
        if (i / step % n == 0)
            softmax(in, i, step, n, out);
    return 0;
}

static const char *const types[] = {"SoftMax", "SoftMaxGpu", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "softmax",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = vpu_plugin_halves,
                                  .shape = vpu_plugin_same_shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
