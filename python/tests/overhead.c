/* A small prepared run, many times: microseconds of each in C, for overhead.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <vpusim/vpu.h>

enum { RUNS = 5000, ITEMS = 64 };

static const char source[] =
    "__kernel void scale(__global const float *x, __global float *y, float f)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    y[i] = f * x[i];\n"
    "}\n";

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static vpu_graph *prepare(vpu_error *error)
{
    vpu_context_options where = VPU_CONTEXT_OPTIONS_INIT;
    vpu_program_options text = VPU_PROGRAM_OPTIONS_INIT;
    vpu_tensor_options tensor = VPU_TENSOR_OPTIONS_INIT;
    vpu_launch_options launch = VPU_LAUNCH_OPTIONS_INIT;
    vpu_context *context;
    vpu_program *program;
    const vpu_kernel *kernel;
    vpu_graph *graph;
    vpu_tensor *x, *y;
    vpu_operation *scale;

    where.threads = 1;
    text.source = source;
    tensor.shape = "64:f32";
    launch.global[0] = ITEMS;
    if (vpu_context_create(&context, &where, error) ||
        vpu_program_create(&program, context, &text, error) ||
        vpu_program_kernel(program, NULL, &kernel, error) ||
        vpu_graph_create(&graph, context, error))
        return NULL;
    tensor.role = VPU_ROLE_INPUT;
    if (vpu_graph_tensor(graph, &tensor, &x, error))
        return NULL;
    tensor.role = VPU_ROLE_OUTPUT;
    if (vpu_graph_tensor(graph, &tensor, &y, error) ||
        vpu_graph_add_kernel(graph, kernel, &launch, &scale, error) ||
        vpu_operation_set_tensor(scale, "x", x, error) ||
        vpu_operation_set_tensor(scale, "y", y, error) ||
        vpu_operation_set_real(scale, "f", 3, error) ||
        vpu_graph_finalize(graph, error) || vpu_tensor_fill(x, "ramp", error))
        return NULL;
    return graph;
}

int main(void)
{
    static double spent[RUNS];
    vpu_error error;
    vpu_graph *graph = prepare(&error);
    vpu_result *result;

    if (!graph) {
        fprintf(stderr, "%s\n", error.msg);
        return 1;
    }
    for (int i = 0; i < RUNS; i++) {
        double begin = now();

        if (vpu_graph_run(graph, NULL, &result, &error))
            return 1;
        if (!vpu_result_cycles(result))
            return 1;
        vpu_result_free(result);
        spent[i] = now() - begin;
    }
    qsort(spent, RUNS, sizeof *spent, by_size);
    printf("%f\n", spent[RUNS / 2]);
    return 0;
}
