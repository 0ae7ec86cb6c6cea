/* Tensors between operations share memory: how much that saves, and a picture of
 * the plan, memory.svg. */
#include <stdio.h>
#include <vpusim/vpu.h>

int main(void)
{
    static const char *const kinds[] = {"relu", "sigmoid", "copy", "tanh", "relu", "copy"};
    enum { N = sizeof kinds / sizeof *kinds };
    vpu_tensor_options input = {.struct_size = sizeof input, .name = "x",
                                .role = VPU_ROLE_INPUT, .shape = "1x16x64x64:f16"};
    vpu_memory_use use = VPU_MEMORY_USE_INIT;
    vpu_error error;
    vpu_context *context = NULL;
    vpu_graph *graph = NULL;
    vpu_tensor *x;
    FILE *svg;
    int failed = vpu_context_create(&context, NULL, &error) ||
                 vpu_graph_create(&graph, context, &error) ||
                 vpu_graph_tensor(graph, &input, &x, &error);

    for (int i = 0; i < N && !failed; i++) {
        vpu_add_options o = {.struct_size = sizeof o, .inputs = &x, .n_inputs = 1,
                             .output_role = i + 1 < N ? VPU_ROLE_VIRTUAL : VPU_ROLE_OUTPUT};
        vpu_operation *op;

        failed = vpu_graph_add(graph, kinds[i], &o, &op, &error);
        x = vpu_operation_output(op, 0);
    }
    if (failed || vpu_graph_finalize(graph, &error) ||
        vpu_graph_memory(graph, &use, &error)) {
        fprintf(stderr, "%s\n", error.msg);
        return 1;
    }
    fputs(vpu_graph_memory_text(graph), stdout);
    printf("%llu bytes instead of %llu\n", (unsigned long long)use.planned,
           (unsigned long long)use.apart);
    svg = fopen("memory.svg", "w");
    if (!svg || fputs(vpu_graph_memory_svg(graph), svg) < 0 || fclose(svg))
        return 1;
    vpu_graph_free(graph);
    vpu_context_free(context);
    return use.planned >= use.apart;
}
