/* The timeline of a run as a picture, and the counters that explain it. */
#include <stdio.h>
#include <vpusim/vpu.h>

int main(void)
{
    static const char *const binding[] = {"leaky_relu.xml"};
    static const char *const shape[] = {"in0=1x32x64x64"};
    static const char *const slope[] = {"slope=0.1"};
    vpu_layer_options layer = {.struct_size = sizeof layer, .bindings = binding,
                               .n_bindings = 1, .shapes = shape, .n_shapes = 1,
                               .params = slope, .n_params = 1};
    vpu_run_options run = {.struct_size = sizeof run, .trace = "run.pftrace"};
    vpu_picture_options picture = {.struct_size = sizeof picture, .png = "run.png"};
    vpu_error error;
    vpu_context *context;
    vpu_graph *graph;
    vpu_operation *op;
    vpu_result *result;
    const char *name;
    double value;

    if (vpu_context_create(&context, NULL, &error) ||
        vpu_graph_create(&graph, context, &error) ||
        vpu_graph_add_layer(graph, &layer, &op, &error) ||
        vpu_graph_finalize(graph, &error) ||
        vpu_tensor_fill(vpu_operation_input(op, 0), "random:1", &error) ||
        vpu_graph_run(graph, &run, &result, &error) ||
        vpu_picture_write("run.pftrace", &picture, &error)) {
        fprintf(stderr, "%s\n", error.msg);
        return 1;
    }
    for (size_t i = 0; (name = vpu_result_counter_name(result, i)); i++)
        if (!vpu_result_counter(result, name, &value, &error))
            printf("%-48s %g\n", name, value);
    vpu_result_free(result);
    vpu_graph_free(graph);
    vpu_context_free(context);
    return 0;
}
