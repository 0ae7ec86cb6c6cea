/* A graph saved to a file, and run from it where nothing else is left of it. */
#include <stdio.h>
#include <vpusim/vpu.h>

/* y = tanh(x). */
static int save(vpu_context *context, const char *path, vpu_error *error)
{
    vpu_tensor_options input = {.struct_size = sizeof input, .name = "x",
                                .role = VPU_ROLE_INPUT, .shape = "64x64:f32"};
    vpu_tensor *x;
    vpu_add_options add = {.struct_size = sizeof add, .name = "y", .inputs = &x,
                           .n_inputs = 1, .output_role = VPU_ROLE_OUTPUT};
    vpu_operation *op;
    vpu_graph *graph = NULL;
    int failed = vpu_graph_create(&graph, context, error) ||
                 vpu_graph_tensor(graph, &input, &x, error) ||
                 vpu_graph_add(graph, "tanh", &add, &op, error) ||
                 vpu_graph_save(graph, path, NULL, error);

    vpu_graph_free(graph);
    return failed;
}

int main(void)
{
    vpu_error error;
    vpu_context *context = NULL;
    vpu_graph *graph = NULL;
    vpu_result *result = NULL;
    int failed = vpu_context_create(&context, NULL, &error) ||
                 save(context, "tanh.vpugraph", &error) ||
                 vpu_graph_load(&graph, context, "tanh.vpugraph", &error) ||
                 vpu_graph_finalize(graph, &error) ||
                 vpu_tensor_fill(vpu_graph_tensor_named(graph, "x"), "random:1",
                                 &error) ||
                 vpu_graph_run(graph, NULL, &result, &error);

    if (failed)
        fprintf(stderr, "%s\n", error.msg);
    else
        printf("y[0] = %g after %llu cycles\n",
               ((float *)vpu_tensor_data(vpu_graph_tensor_named(graph, "y")))[0],
               (unsigned long long)vpu_result_cycles(result));
    vpu_result_free(result);
    vpu_graph_free(graph);
    vpu_context_free(context);
    return failed;
}
