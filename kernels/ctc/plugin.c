/* Best class of every step; repeats and the blank (the last class) left out,
 * what is free behind filled with -1. */
#include "vpu_plugin.h"

#define get vpu_plugin_read
#define put vpu_plugin_write
#define dim vpu_plugin_dim

static size_t best_class(const vpu_plugin_tensor *in, size_t t, size_t n)
{
    size_t C = dim(in, 2), first = (t * dim(in, 1) + n) * C, best = 0;

    for (size_t c = 1; c < C; c++)
        if (get(in, first + c) > get(in, first + best))
            best = c;
    return best;
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    size_t T = dim(in, 0), N = dim(in, 1), blank = (size_t)dim(in, 2) - 1;

    (void)self;
    if (n_in != 2 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 2, outputs: 1");
    for (size_t i = 0; i < N * T; i++)
        put(out, i, -1);
    for (size_t n = 0; n < N; n++) {
        size_t to = n * T;

        for (size_t t = 0; t < T && get(&in[1], t * N + n) != 0; t++) {
            size_t best = best_class(in, t, n);

            if (best != blank && (t == 0 || best != best_class(in, t - 1, n)))
                put(out, to++, (float)best);
        }
    }
    return 0;
}

static const char *const types[] = {"CTCGreedyDecoder", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "ctc",
                                  .version = "1",
                                  .types = types,
                                  .init = vpu_plugin_keep,
                                  .formats = vpu_plugin_halves,
                                  .shape = NULL,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
