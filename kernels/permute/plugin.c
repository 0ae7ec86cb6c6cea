/* Dimensions in the order that a list says. */
#include "vpu_plugin.h"

#define dim vpu_plugin_dim

/* The list `order`: dimension d of the output is dimension order[d] of the
 * input, each once. */
static int read_order(const vpu_plugin_layer *l, size_t order[4],
                      vpu_plugin_error *error)
{
    const char *at = vpu_plugin_text(l, "order");
    unsigned seen = 0;

    for (int d = 0; at && d < 4; d++) {
        char *end;

        order[d] = (size_t)strtoul(at, &end, 10);
        if (end == at || order[d] > 3)
            break;
        seen |= 1u << order[d];
        at = *end == ',' ? end + 1 : end;
    }
    return seen == 15
               ? 0
               : vpu_plugin_fail(error, "order is no order of 0, 1, 2 and 3");
}

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "order", error) ||
           vpu_plugin_keep(layer, self, error);
}

static int shape(void *self, const vpu_plugin_desc *in, uint32_t n_in,
                 vpu_plugin_desc *out, uint32_t n_out, vpu_plugin_error *error)
{
    size_t order[4];

    if (n_in != 1 || n_out != 1 || in->rank != 4)
        return vpu_plugin_fail(error, "expected one tensor of rank 4");
    if (read_order(self, order, error))
        return 1;
    out->rank = 4;
    for (int d = 0; d < 4; d++)
        out->dims[d] = in->dims[order[d]];
    return 0;
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    size_t order[4], step[4], from = 0, at[4];

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    if (read_order(self, order, error))
        return 1;
    /* How far apart neighbours along a dimension of the input are in the
     * output. */
    for (size_t d = 4, n = 1; d-- > 0; n *= dim(out, (uint32_t)d))
        step[order[d]] = n;
    for (at[0] = 0; at[0] < dim(in, 0); at[0]++)
        for (at[1] = 0; at[1] < dim(in, 1); at[1]++)
            for (at[2] = 0; at[2] < dim(in, 2); at[2]++)
                for (at[3] = 0; at[3] < dim(in, 3); at[3]++, from++) {
                    size_t to = at[0] * step[0] + at[1] * step[1] +
                                at[2] * step[2] + at[3] * step[3];

                    ((uint16_t *)out->data)[to] =
                        ((const uint16_t *)in->data)[from];
                }
    return 0;
}

static const char *const types[] = {"Permute", "PermuteGpu", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "permute",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = vpu_plugin_halves,
                                  .shape = shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
