/* Values moved to the nearest of some levels; every step is float. */
#include <math.h>

#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "levels", error) ||
           vpu_plugin_lacks(layer, "in_low", error) ||
           vpu_plugin_lacks(layer, "in_high", error) ||
           vpu_plugin_lacks(layer, "out_low", error) ||
           vpu_plugin_lacks(layer, "out_high", error) ||
           vpu_plugin_keep(layer, self, error);
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    float steps = (float)vpu_plugin_number(l, "levels", 2) - 1;
    float in_low = (float)vpu_plugin_number(l, "in_low", 0);
    float in_high = (float)vpu_plugin_number(l, "in_high", 1);
    float out_low = (float)vpu_plugin_number(l, "out_low", 0);
    float out_high = (float)vpu_plugin_number(l, "out_high", 1);
    float in_range = in_high - in_low, out_range = out_high - out_low;

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    for (size_t i = 0; i < vpu_plugin_elements(&in->desc); i++) {
        float v = get(in, i), q;

        q = v - in_low;
        q = q / in_range;
        q = q * steps;
        q = nearbyintf(q);
        q = q / steps;
        q = q * out_range;
        q = q + out_low;
        put(out, i, v <= in_low ? out_low : v > in_high ? out_high : q);
    }
    return 0;
}

static const char *const types[] = {"FakeQuantize", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "quantize",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = vpu_plugin_halves,
                                  .shape = vpu_plugin_same_shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
