/* Signs against signs: +1 where they agree, -1 where not, nothing beyond the
 * border. Weights are bits, sixteen channels to a word. */
#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

static size_t at(const vpu_plugin_tensor *t, size_t b, size_t f, size_t y,
                 size_t x)
{
    return ((b * dim(t, 1) + f) * dim(t, 2) + y) * dim(t, 3) + x;
}

static int init(const vpu_plugin_layer *layer, void **self,
                vpu_plugin_error *error)
{
    return vpu_plugin_lacks(layer, "kernel", error) ||
           vpu_plugin_lacks(layer, "threshold", error) ||
           vpu_plugin_keep(layer, self, error);
}

static int sum_of(const vpu_plugin_tensor *in, const uint16_t *bits, size_t K,
                  float threshold, const size_t *where)
{
    size_t b = where[0], o = where[1], y = where[2], x = where[3], r = K / 2;
    size_t C = dim(in, 1), words = (C + 15) / 16;
    int sum = 0;

    for (size_t t = 0; t < K * K; t++) {
        size_t sy = y + t / K, sx = x + t % K; /* both r too large */

        if (sy < r || sy >= dim(in, 2) + r || sx < r || sx >= dim(in, 3) + r)
            continue;
        for (size_t c = 0; c < C; c++) {
            float v = get(in, at(in, b, c, sy - r, sx - r));
            int w = bits[(o * K * K + t) * words + c / 16] >> c % 16 & 1;

            sum += (v > threshold) == w ? 1 : -1;
        }
    }
    return sum;
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    const vpu_plugin_layer *l = self;
    const vpu_plugin_blob *blob = vpu_plugin_find_blob(l, "weights");
    size_t K = (size_t)vpu_plugin_number(l, "kernel", 1), i = 0, w[4];
    float threshold = (float)vpu_plugin_number(l, "threshold", 0);

    if (n_in != 1 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 1, outputs: 1");
    if (!blob || blob->bytes < (uint64_t)dim(out, 1) * K * K *
                                   ((dim(in, 1) + 15) / 16) * 2)
        return vpu_plugin_fail(error, "no data 'weights', or too few");
    for (w[0] = 0; w[0] < dim(out, 0); w[0]++)
        for (w[1] = 0; w[1] < dim(out, 1); w[1]++)
            for (w[2] = 0; w[2] < dim(out, 2); w[2]++)
                for (w[3] = 0; w[3] < dim(out, 3); w[3]++)
                    put(out, i++,
                        (float)sum_of(in, blob->data, K, threshold, w));
    return 0;
}

static const char *const types[] = {"BinaryConvolution", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "binary_convolution",
                                  .version = "1",
                                  .types = types,
                                  .init = init,
                                  .formats = vpu_plugin_halves,
                                  .shape = NULL,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
