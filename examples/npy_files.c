/* Tensors in NumPy's files: one is written by a run, and read as the input of the
 * next one. */
#include <stdio.h>
#include <vpusim/vpu.h>

int main(void)
{
    vpu_tensor_options input = {.struct_size = sizeof input, .role = VPU_ROLE_INPUT,
                                .shape = "4x8:f32"};
    static const vpu_value twice[] = {{.name = "factor", .is_real = 1, .real = 2}};
    vpu_add_options o = {.struct_size = sizeof o, .n_inputs = 1, .values = twice,
                         .n_values = 1, .output_role = VPU_ROLE_OUTPUT};
    vpu_error error;
    vpu_context *context;
    vpu_graph *graph;
    vpu_tensor *x, *y;
    vpu_operation *op;
    const float *first;

    o.inputs = &x;
    if (vpu_context_create(&context, NULL, &error) ||
        vpu_graph_create(&graph, context, &error) ||
        vpu_graph_tensor(graph, &input, &x, &error) ||
        vpu_graph_add(graph, "scale", &o, &op, &error) ||
        vpu_graph_finalize(graph, &error) || vpu_tensor_fill(x, "ramp", &error))
        goto failed;
    y = vpu_operation_output(op, 0);
    for (int i = 0; i < 3; i++)
        if (vpu_graph_run(graph, NULL, NULL, &error) ||
            vpu_tensor_save(y, "scaled.npy", &error) ||
            vpu_tensor_fill(x, "scaled.npy", &error))
            goto failed;
    first = vpu_tensor_data(x);
    printf("1/256 became %g\n", first[1]);
    vpu_graph_free(graph);
    vpu_context_free(context);
    return first == NULL;
failed:
    fprintf(stderr, "%s\n", error.msg);
    return 1;
}
