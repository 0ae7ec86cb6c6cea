/* A kind of operation of one's own: a kernel as a string, and expressions that say
 * which shape its output has and how many work-items it needs. */
#include <stdio.h>
#include <vpusim/vpu.h>

static const char source[] =
    "__kernel void pool(__global const VPU_IN0 *x, __global VPU_OUT0 *y, int n)\n"
    "{\n"
    "    int column = get_global_id(0), row = get_global_id(1);\n"
    "    int columns = get_global_size(0);\n"
    "    float most = -INFINITY;\n"
    "    for (int i = 0; i < n * n; i++)\n"
    "        most = fmax(most, (float)x[(row * n + i / n) * columns * n +\n"
    "                                   column * n + i % n]);\n"
    "    y[row * columns + column] = (VPU_OUT0)most;\n"
    "}\n";

int main(void)
{
    static const char *const input[] = {"x"}, *const output[] = {"y"};
    static const char *const shape[] = {"in0_0 / n, in0_1 / n"};
    static const vpu_parameter window[] = {{.name = "n"}};
    static const vpu_value four[] = {{.name = "n", .integer = 4}};
    vpu_kind pool = {.struct_size = sizeof pool, .name = "pool", .source = source,
                     .inputs = input, .n_inputs = 1, .outputs = output, .n_outputs = 1,
                     .parameters = window, .n_parameters = 1, .shapes = shape,
                     .global = "out0_1, out0_0"};
    vpu_tensor_options picture = {.struct_size = sizeof picture, .role = VPU_ROLE_INPUT,
                                  .shape = "64x96:f16"};
    vpu_add_options add = {.struct_size = sizeof add, .n_inputs = 1, .values = four,
                           .n_values = 1, .output_role = VPU_ROLE_OUTPUT};
    vpu_error error;
    vpu_context *context;
    vpu_graph *graph;
    vpu_tensor *x, *y;
    vpu_operation *op;

    add.inputs = &x;
    if (vpu_context_create(&context, NULL, &error) ||
        vpu_context_register(context, &pool, &error) ||
        vpu_graph_create(&graph, context, &error) ||
        vpu_graph_tensor(graph, &picture, &x, &error) ||
        vpu_graph_add(graph, "pool", &add, &op, &error) ||
        vpu_graph_finalize(graph, &error) ||
        vpu_tensor_fill(x, "random:1", &error) ||
        vpu_graph_run(graph, NULL, NULL, &error)) {
        fprintf(stderr, "%s\n", error.msg);
        return 1;
    }
    y = vpu_operation_output(op, 0);
    printf("%ux%u became %ux%u\n", vpu_tensor_dim(x, 0), vpu_tensor_dim(x, 1),
           vpu_tensor_dim(y, 0), vpu_tensor_dim(y, 1));
    vpu_graph_free(graph);
    vpu_context_free(context);
    return 0;
}
