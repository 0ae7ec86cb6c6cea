/* The sample layers that come with the library, by their names. */
#include <stdio.h>
#include <vpusim/vpu.h>

static vpu_tensor *add(vpu_graph *g, const char *kind, vpu_tensor *x, vpu_value v, uint32_t role,
                       vpu_error *e)
{
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;

    o.inputs = &x, o.n_inputs = 1;
    o.values = &v, o.n_values = v.name != NULL;
    o.output_role = role;
    return x && !vpu_graph_add(g, kind, &o, &op, e) ? vpu_operation_output(op, 0) : NULL;
}

int main(void)
{
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_context *c = NULL;
    vpu_graph *g = NULL;
    vpu_tensor *x = NULL;
    vpu_result *r = NULL;
    vpu_error e;
    int bad;

    t.name = "x", t.shape = "1x16x24x32:f16", t.role = VPU_ROLE_INPUT;
    bad = vpu_context_create(&c, NULL, &e) || vpu_context_register_layers(c, NULL, &e) ||
          vpu_graph_create(&g, c, &e) || vpu_graph_tensor(g, &t, &x, &e) ||
          vpu_tensor_fill(x, "random:1", &e);
    if (!bad) {
        x = add(g, "relu", x, (vpu_value){0}, VPU_ROLE_VIRTUAL, &e); /* the library's own */
        x = add(g, "GRN", x, (vpu_value){"bias", 1, 0, 0.5}, VPU_ROLE_VIRTUAL, &e);
        x = add(g, "SoftMax", x, (vpu_value){"axis", 0, 1, 0}, VPU_ROLE_OUTPUT, &e);
        bad = !x || vpu_graph_finalize(g, &e) || vpu_graph_run(g, NULL, &r, &e);
    }
    for (size_t i = 0; !bad && i < vpu_result_launch_count(r); i++)
        printf("%-32s %8llu cycles\n", vpu_result_launch_name(r, i),
               (unsigned long long)vpu_result_launch_cycles(r, i));
    if (bad)
        fprintf(stderr, "%s\n", e.msg);
    vpu_result_free(r);
    vpu_graph_free(g);
    vpu_context_free(c);
    return bad;
}
