/* One kernel that loads from DDR, and one whose rows DMA copies into local memory
 * while other work-groups compute: which takes fewer cycles? */
#include <stdio.h>
#include <vpusim/vpu.h>

static const char source[] =
    "__kernel void plain(__global const half *x, __global half *y) {\n"
    "    int i = get_local_id(0), row = 576 * get_group_id(1);\n"
    "    half sum = 0;\n"
    "    for (int k = 0; k < 64; k++) sum += x[row + i + k];\n"
    "    y[i + 512 * get_group_id(1)] = sum;\n"
    "}\n"
    "__kernel void rows(__global const half *x, __global half *y) {\n"
    "    __local half in[576], out[512];\n"
    "    int i = get_local_id(0);\n"
    "    event_t e = async_work_group_copy(in, x + 576 * get_group_id(1), 576, 0);\n"
    "    wait_group_events(1, &e);\n"
    "    half sum = 0;\n"
    "    for (int k = 0; k < 64; k++) sum += in[i + k];\n"
    "    out[i] = sum;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    e = async_work_group_copy(y + 512 * get_group_id(1), out, 512, 0);\n"
    "    wait_group_events(1, &e);\n"
    "}\n";

int main(void)
{
    static const char *const names[] = {"plain", "rows"};
    vpu_program_options text = {.struct_size = sizeof text, .source = source};
    vpu_tensor_options in = {.struct_size = sizeof in, .role = VPU_ROLE_INPUT, .shape = "128x576"};
    vpu_tensor_options out = {.struct_size = sizeof out, .role = VPU_ROLE_OUTPUT, .shape = "128x512"};
    vpu_launch_options launch = {
        .struct_size = sizeof launch, .global = {512, 128, 1}, .local = {512, 1, 1}};
    vpu_error error;
    vpu_context *context;
    vpu_program *program;
    const vpu_kernel *kernel;
    vpu_graph *graph;
    vpu_tensor *x, *y;
    vpu_operation *op;
    vpu_result *result;
    int failed = vpu_context_create(&context, NULL, &error) ||
                 vpu_program_create(&program, context, &text, &error);

    for (int i = 0; i < 2 && !failed; i++) {
        failed = vpu_program_kernel(program, names[i], &kernel, &error) ||
                 vpu_graph_create(&graph, context, &error) ||
                 vpu_graph_tensor(graph, &in, &x, &error) ||
                 vpu_graph_tensor(graph, &out, &y, &error) ||
                 vpu_graph_add_kernel(graph, kernel, &launch, &op, &error) ||
                 vpu_operation_set_tensor(op, "x", x, &error) ||
                 vpu_operation_set_tensor(op, "y", y, &error) ||
                 vpu_graph_finalize(graph, &error) || vpu_tensor_fill(x, "ramp", &error) ||
                 vpu_graph_run(graph, NULL, &result, &error);
        if (!failed)
            printf("%-5s %9llu cycles\n", names[i], (unsigned long long)vpu_result_cycles(result));
    }
    return failed && fprintf(stderr, "%s\n", error.msg);
}
