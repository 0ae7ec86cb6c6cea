/* A function of the host between two kernels: it sorts what the first one made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vpusim/vpu.h>

enum { N = 64 };

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static vpu_status sort(void *user, const void *const *inputs, void *const *outputs,
                       vpu_error *error)
{
    (void)user, (void)error;
    memcpy(outputs[0], inputs[0], N * sizeof(float));
    qsort(outputs[0], N, sizeof(float), compare);
    return VPU_OK;
}

int main(void)
{
    vpu_tensor_options given = {.struct_size = sizeof given, .name = "x",
                                .role = VPU_ROLE_INPUT, .shape = "64:f32"};
    vpu_tensor_options between = {.struct_size = sizeof between, .role = VPU_ROLE_VIRTUAL,
                                  .shape = "64:f32"};
    vpu_tensor *x, *sorted, *relu = NULL;
    vpu_add_options first = {.struct_size = sizeof first, .inputs = &x, .n_inputs = 1};
    vpu_host_options host = {.struct_size = sizeof host, .name = "sort", .inputs = &relu,
                             .n_inputs = 1, .outputs = &sorted, .n_outputs = 1,
                             .function = sort};
    vpu_add_options last = {.struct_size = sizeof last, .name = "y", .inputs = &sorted,
                            .n_inputs = 1, .output_role = VPU_ROLE_OUTPUT};
    vpu_error error;
    vpu_context *context;
    vpu_graph *graph;
    vpu_operation *op;
    const float *y;

    if (vpu_context_create(&context, NULL, &error) ||
        vpu_graph_create(&graph, context, &error) ||
        vpu_graph_tensor(graph, &given, &x, &error) ||
        vpu_graph_tensor(graph, &between, &sorted, &error) ||
        vpu_graph_add(graph, "relu", &first, &op, &error) ||
        !(relu = vpu_operation_output(op, 0)) ||
        vpu_graph_add_host(graph, &host, &op, &error) ||
        vpu_graph_add(graph, "tanh", &last, &op, &error) || vpu_graph_finalize(graph, &error) ||
        vpu_tensor_fill(x, "random:1", &error) || vpu_graph_run(graph, NULL, NULL, &error))
        return fprintf(stderr, "%s\n", error.msg), 1;
    y = vpu_tensor_data(vpu_graph_tensor_named(graph, "y"));
    printf("least %g, greatest %g\n", y[0], y[N - 1]);
    vpu_graph_free(graph);
    vpu_context_free(context);
    return 0;
}
