/* Mean-variance normalisation of every channel; sums are float. */
#include <math.h>

#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "eps", error) ||
           vpu_plugin_keep(layer, self, error);
}

static void channel(const vpu_plugin_tensor *in, size_t first, size_t plane,
                    float eps, const vpu_plugin_tensor *out)
{
    float sum = 0, squares = 0, mean, variance, factor;

    for (size_t i = first; i < first + plane; i++)
        sum = sum + get(in, i);
    mean = sum / (float)plane;
    for (size_t i = first; i < first + plane; i++) {
        float d = get(in, i) - mean, square = d * d;

        squares = squares + square;
    }
    variance = squares / (float)plane;
    variance = variance + eps;
    factor = (float)(1.0 / sqrt((double)variance));
    for (size_t i = first; i < first + plane; i++) {
        float d = get(in, i) - mean;

        put(out, i, d * factor);
    }
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    size_t plane = (size_t)dim(in, 2) * dim(in, 3);

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    for (size_t i = 0; i < vpu_plugin_elements(&in->desc); i += plane)
        channel(in, i, plane, (float)vpu_plugin_number(l, "eps", 0), out);
    return 0;
}

static const char *const types[] = {"MVN", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "mvn",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = vpu_plugin_halves,
                                  .shape = vpu_plugin_same_shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
