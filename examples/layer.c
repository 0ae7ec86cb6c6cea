/* A layer of a binding file, as `vpu run` runs it, and its report. */
#include <stdio.h>
#include <vpusim/vpu.h>

int main(void)
{
    static const char *const binding[] = {"leaky_relu.xml"};
    static const char *const shape[] = {"in0=1x8x32x32"};
    static const char *const slope[] = {"slope=0.1"};
    vpu_layer_options layer = VPU_LAYER_OPTIONS_INIT;
    vpu_error error;
    vpu_context *context;
    vpu_graph *graph;
    vpu_operation *relu;
    vpu_result *result;

    layer.bindings = binding;
    layer.shapes = shape;
    layer.params = slope;
    layer.n_bindings = layer.n_shapes = layer.n_params = 1;
    if (vpu_context_create(&context, NULL, &error) ||
        vpu_graph_create(&graph, context, &error) ||
        vpu_graph_add_layer(graph, &layer, &relu, &error) ||
        vpu_graph_finalize(graph, &error) ||
        vpu_tensor_fill(vpu_operation_input(relu, 0), "random:1", &error) ||
        vpu_graph_run(graph, NULL, &result, &error)) {
        fprintf(stderr, "%s\n", error.msg);
        return 1;
    }
    fputs(vpu_result_text(result), stdout);
    vpu_result_free(result);
    vpu_graph_free(graph);
    vpu_context_free(context);
    return 0;
}
