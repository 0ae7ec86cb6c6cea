/* Concatenation without copies: two operations write two views of one tensor. */
#include <stdio.h>
#include <vpusim/vpu.h>

int main(void)
{
    static const char *const kinds[] = {"relu", "sigmoid"};
    vpu_tensor_options input = {.struct_size = sizeof input, .role = VPU_ROLE_INPUT,
                                .shape = "1x8x16:f32"};
    vpu_tensor_options both = {.struct_size = sizeof both, .role = VPU_ROLE_OUTPUT,
                               .shape = "2x8x16:f32"};
    vpu_view_options part = {.struct_size = sizeof part, .dims = {1, 8, 16}};
    vpu_error error;
    vpu_context *context;
    vpu_graph *graph;
    vpu_tensor *x, *y, *view;
    vpu_operation *op;
    vpu_result *result;
    const float *out;
    int failed = vpu_context_create(&context, NULL, &error) ||
                 vpu_graph_create(&graph, context, &error) ||
                 vpu_graph_tensor(graph, &input, &x, &error) ||
                 vpu_graph_tensor(graph, &both, &y, &error);

    for (uint32_t i = 0; i < 2 && !failed; i++) {
        vpu_add_options add = {.struct_size = sizeof add, .inputs = &x, .n_inputs = 1,
                               .outputs = &view, .n_outputs = 1};

        part.start[0] = i;
        failed = vpu_graph_view(graph, y, &part, &view, &error) ||
                 vpu_graph_add(graph, kinds[i], &add, &op, &error);
    }
    if (failed || vpu_graph_finalize(graph, &error) ||
        vpu_tensor_fill(x, "random:1", &error) ||
        vpu_graph_run(graph, NULL, &result, &error)) {
        fprintf(stderr, "%s\n", error.msg);
        return 1;
    }
    out = vpu_tensor_data(y);
    printf("relu %g, sigmoid %g, in %zu launches\n", out[0], out[8 * 16],
           vpu_result_launch_count(result));
    vpu_result_free(result);
    vpu_graph_free(graph);
    vpu_context_free(context);
    return 0;
}
