/* Global response normalisation: every pixel over the root of bias plus the sum
 * of its squares. The sum is float; the factor becomes half before it
 * multiplies. */
#include <math.h>

#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

/* Types that end in Float compute in single precision. */
static int is_float(const void *self)
{
    return strstr(((const vpu_plugin_layer *)self)->type, "Float") != NULL;
}

static int formats(void *self, const vpu_plugin_desc *in, uint32_t n_in,
                   const vpu_plugin_desc *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    uint32_t t = is_float(self) ? VPU_PLUGIN_F32 : VPU_PLUGIN_F16;

    return vpu_plugin_refuses(in, n_in, t, error) ||
           vpu_plugin_refuses(out, n_out, t, error);
}

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "bias", error) ||
           vpu_plugin_keep(layer, self, error);
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    size_t C, plane, pixel;
    float bias = (float)vpu_plugin_number(l, "bias", 0);

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    C = dim(in, 1);
    plane = (size_t)dim(in, 2) * dim(in, 3);
    for (size_t p = 0; p < dim(in, 0) * plane; p++) {
        float sum = bias, factor;

        pixel = p / plane * C * plane + p % plane;
        for (size_t c = 0; c < C; c++) {
            float v = get(in, pixel + c * plane), square = v * v;

            sum = sum + square;
        }
        factor = (float)(1.0 / sqrt((double)sum));
        if (!is_float(self))
            factor = vpu_plugin_round(factor);
        for (size_t c = 0; c < C; c++)
            put(out, pixel + c * plane, get(in, pixel + c * plane) * factor);
    }
    return 0;
}

static const char *const types[] = {
    "GRN",       "GRNDma",   "GRNFloat",     "GRNDmaFloat", "GRNRolled",
    "GRNVector", "GRNAsync", "GRNAsyncRows", "GRNGpu",      NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "grn",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = formats,
                                  .shape = vpu_plugin_same_shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
