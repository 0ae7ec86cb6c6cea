/* A composed operation: a recurrent cell of fully connected layers and tanh, three
 * steps of it, and what each step costs. */
#include <stdio.h>
#include <vpusim/vpu.h>

enum { INPUTS = 64, STATES = 32, STEPS = 3 };

static int add(vpu_graph *graph, const char *kind, vpu_tensor *const *inputs, size_t n,
               uint32_t role, vpu_tensor **out, vpu_error *error)
{
    vpu_add_options o = {.struct_size = sizeof o, .inputs = inputs, .n_inputs = n,
                         .output_role = role};
    vpu_operation *op;
    vpu_status status = vpu_graph_add(graph, kind, &o, &op, error);

    *out = vpu_operation_output(op, 0);
    return status;
}

int main(void)
{
    static const char *const shapes[] = {"1x64:f32", "32x64:f32", "32:f32",
                                         "1x32:f32", "32x32:f32"};
    static const float data[INPUTS * STATES] = {0.5f, -0.25f, 0.125f};
    vpu_tensor_options constant = {.struct_size = sizeof constant,
                                   .role = VPU_ROLE_CONSTANT, .data = data};
    vpu_error error;
    vpu_context *context;
    vpu_graph *graph;
    vpu_operation *cell[STEPS];
    vpu_tensor *t[6], *sum[2], *y; /* x, its weights, bias, state, its weights, bias */
    vpu_result *result;
    int failed = vpu_context_create(&context, NULL, &error) ||
                 vpu_graph_create(&graph, context, &error);

    for (int i = 0; i < 5 && !failed; i++) {
        constant.shape = shapes[i];
        failed = vpu_graph_tensor(graph, &constant, &t[i], &error);
    }
    t[5] = t[2];
    for (int i = 0; i < STEPS && !failed; i++)
        failed = vpu_graph_begin(graph, "cell", &cell[i], &error) ||
                 add(graph, "fully_connected", t, 3, 0, &sum[0], &error) ||
                 add(graph, "fully_connected", t + 3, 3, 0, &sum[1], &error) ||
                 add(graph, "add", sum, 2, 0, &y, &error) ||
                 add(graph, "tanh", &y, 1, i == STEPS - 1 ? VPU_ROLE_OUTPUT : 0, &t[3], &error) ||
                 vpu_graph_end(cell[i], &error);
    if (failed || vpu_graph_finalize(graph, &error) ||
        vpu_graph_run(graph, NULL, &result, &error)) {
        fprintf(stderr, "%s\n", error.msg);
        return 1;
    }
    for (int i = 0; i < STEPS; i++)
        printf("step %d: %llu cycles\n", i,
               (unsigned long long)vpu_result_operation_cycles(result, cell[i]));
    return 0;
}
