/* One graph on three simulated devices: each runs a part of its launch. */
#include <stdio.h>
#include <vpusim/vpu.h>

enum { DEVICES = 3 };

static vpu_status make(vpu_context **c, vpu_graph **g, vpu_error *e)
{
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_add_options a = VPU_ADD_OPTIONS_INIT;
    vpu_tensor *x;
    vpu_operation *op;

    t.name = "x", t.shape = "1x16x96x96:f16", t.role = VPU_ROLE_INPUT;
    a.inputs = &x, a.n_inputs = 1;
    a.name = "y", a.output_role = VPU_ROLE_OUTPUT;
    return vpu_context_create(c, NULL, e) || vpu_graph_create(g, *c, e) ||
           vpu_graph_tensor(*g, &t, &x, e) || vpu_tensor_fill(x, "random:1", e) ||
           vpu_graph_add(*g, "sigmoid", &a, &op, e) || vpu_graph_finalize(*g, e);
}

int main(void)
{
    vpu_context *c[DEVICES] = {NULL};
    vpu_graph *g[DEVICES] = {NULL};
    vpu_result *alone = NULL, *part[DEVICES] = {NULL};
    vpu_error e;
    int bad = 0;

    for (int k = 0; k < DEVICES && !bad; k++)
        bad = make(&c[k], &g[k], &e) != VPU_OK;
    if (bad || vpu_graph_run(g[0], NULL, &alone, &e) ||
        vpu_graph_run_split(g, DEVICES, NULL, part, &e)) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    printf("alone: %llu cycles\n", (unsigned long long)vpu_result_cycles(alone));
    for (int k = 0; k < DEVICES; k++)
        printf("part %d: %llu cycles\n", k, (unsigned long long)vpu_result_cycles(part[k]));
    vpu_result_free(alone);
    for (int k = 0; k < DEVICES; k++) {
        vpu_result_free(part[k]);
        vpu_graph_free(g[k]);
        vpu_context_free(c[k]);
    }
    return 0;
}
