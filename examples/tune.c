/* Local sizes tuned, and kept in a file for the next time. */
#include <stdio.h>
#include <vpusim/vpu.h>

static const char source[] =
    "__kernel void scale(__global const float *x, __global float *y, float f)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    y[i] = f * x[i];\n"
    "}\n";

int main(void)
{
    vpu_program_options text = VPU_PROGRAM_OPTIONS_INIT;
    vpu_tensor_options tensor = VPU_TENSOR_OPTIONS_INIT;
    vpu_launch_options launch = VPU_LAUNCH_OPTIONS_INIT;
    vpu_tune_options tune = VPU_TUNE_OPTIONS_INIT;
    vpu_error error;
    vpu_context *context;
    vpu_program *program;
    const vpu_kernel *kernel;
    vpu_graph *graph;
    vpu_tensor *x, *y;
    vpu_operation *scale;
    int failed;

    text.source = source;
    tensor.shape = "4096:f32";
    launch.global[0] = 4096;
    launch.local[0] = 2; /* too small for vectors */
    tune.mode = VPU_TUNE_EXHAUSTIVE;
    tune.file = "tuned.txt"; /* vpu_context_options.tuned takes it from there */
    failed = vpu_context_create(&context, NULL, &error) ||
             vpu_program_create(&program, context, &text, &error) ||
             vpu_program_kernel(program, "scale", &kernel, &error) ||
             vpu_graph_create(&graph, context, &error);
    tensor.role = VPU_ROLE_INPUT;
    failed = failed || vpu_graph_tensor(graph, &tensor, &x, &error);
    tensor.role = VPU_ROLE_OUTPUT;
    failed = failed || vpu_graph_tensor(graph, &tensor, &y, &error) ||
             vpu_graph_add_kernel(graph, kernel, &launch, &scale, &error) ||
             vpu_operation_set_tensor(scale, "x", x, &error) ||
             vpu_operation_set_tensor(scale, "y", y, &error) ||
             vpu_operation_set_real(scale, "f", 3, &error) ||
             vpu_graph_finalize(graph, &error) ||
             vpu_tensor_fill(x, "ramp", &error) ||
             vpu_graph_tune(graph, &tune, &error);
    if (failed) {
        fprintf(stderr, "%s\n", error.msg);
        return 1;
    }
    printf("work-groups of %u items\n", vpu_operation_local(scale, 0));
    vpu_graph_free(graph);
    vpu_program_free(program);
    vpu_context_free(context);
    return 0;
}
