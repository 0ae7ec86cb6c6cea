/* C = A B; products and sums are float. */
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

static int shape(void *self, const vpu_plugin_desc *in, uint32_t n_in,
                 vpu_plugin_desc *out, uint32_t n_out, vpu_plugin_error *error)
{
    (void)self;
    if (n_in != 2 || n_out != 1 || in[0].rank != 2 || in[1].rank != 2 ||
        in[0].dims[1] != in[1].dims[0])
        return vpu_plugin_fail(error, "expected MxK and KxN");
    out->rank = 2;
    out->dims[0] = in[0].dims[0];
    out->dims[1] = in[1].dims[1];
    return 0;
}

static int execute(void *self, const vpu_plugin_tensor *in, uint32_t n_in,
                   const vpu_plugin_tensor *out, uint32_t n_out,
                   vpu_plugin_error *error)
{
    size_t M = dim(out, 0), N = dim(out, 1), K = dim(in, 1);

    (void)self;
    if (n_in != 2 || n_out != 1)
        return vpu_plugin_fail(error, "expected inputs: 2, outputs: 1");
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            float sum = 0;

            for (size_t k = 0; k < K; k++) {
                float product = get(&in[0], m * K + k) * get(&in[1], k * N + n);

                sum = sum + product;
            }
            put(out, m * N + n, sum);
        }
    return 0;
}

static const char *const types[] = {"MatMul", "MatMulFloat", "MatMulEdge",
                                    "MatMulEdgeFloat", NULL};
static const vpu_plugin plugin = {.abi = VPU_PLUGIN_ABI,
                                  .bytes = sizeof(vpu_plugin),
                                  .name = "matmul",
                                  .version = "1",
                                  .types = types,
                                  .init = vpu_plugin_keep,
                                  .formats = formats,
                                  .shape = shape,
                                  .execute = execute};
VPU_PLUGIN_EXPORT(plugin)
