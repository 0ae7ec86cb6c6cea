/* One graph at several shapes, in the same memory. */
#include <stdio.h>
#include <vpusim/vpu.h>

int main(void)
{
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_add_options a = VPU_ADD_OPTIONS_INIT;
    vpu_context *c = NULL;
    vpu_graph *g = NULL;
    vpu_tensor *x, *y = NULL;
    vpu_operation *op;
    vpu_error e;
    int bad;

    t.name = "x", t.shape = "8x256:f16", t.role = VPU_ROLE_INPUT; /* the largest */
    a.inputs = &x, a.n_inputs = 1;
    bad = vpu_context_create(&c, NULL, &e) || vpu_graph_create(&g, c, &e) ||
          vpu_graph_tensor(g, &t, &x, &e) || vpu_graph_add(g, "tanh", &a, &op, &e);
    if (!bad) {
        y = vpu_operation_output(op, 0);
        a.inputs = &y, a.output_role = VPU_ROLE_OUTPUT;
        bad = vpu_graph_add(g, "softmax", &a, &op, &e) || vpu_graph_finalize(g, &e);
        y = vpu_operation_output(op, 0);
    }
    for (uint32_t items = 8; items && !bad; items -= 2) {
        const vpu_shape s = {.rank = 2, .dims = {items, 256}};
        vpu_result *r;

        bad = vpu_graph_resize(g, &x, &s, 1, &e) || vpu_tensor_fill(x, "random:1", &e) ||
              vpu_graph_run(g, NULL, &r, &e);
        if (!bad) {
            printf("%ux%u: %llu cycles\n", vpu_tensor_dim(y, 0), vpu_tensor_dim(y, 1),
                   (unsigned long long)vpu_result_cycles(r));
            vpu_result_free(r);
        }
    }
    if (bad)
        fprintf(stderr, "%s\n", e.msg);
    vpu_graph_free(g);
    vpu_context_free(c);
    return bad;
}
