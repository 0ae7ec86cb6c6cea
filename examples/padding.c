/* A kernel that reads its neighbours: padding, a border, strides. */
#include <stdio.h>
#include <vpusim/vpu.h>

static const char source[] =
    "__kernel void sum(__global const int *in, __global int *out, int from,\n"
    "                  int row)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1), s = 0;\n"
    "    for (int j = -1; j <= 1; j++)\n"
    "        for (int i = -1; i <= 1; i++)\n"
    "            s += in[from + (y + j) * row + x + i];\n"
    "    out[y * get_global_size(0) + x] = s;\n"
    "}\n";

int main(void)
{
    static const char *in = "in", *out = "out";
    const vpu_parameter places[] = {{.name = "from", .expression = "in0_offset"},
                                    {.name = "row", .expression = "in0_stride_0"}};
    vpu_kind k = VPU_KIND_INIT;
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_add_options a = VPU_ADD_OPTIONS_INIT;
    vpu_context *c = NULL;
    vpu_graph *g = NULL;
    vpu_tensor *x, *y;
    vpu_operation *op;
    vpu_error e;
    int sums[4][8];

    k.name = "sum", k.source = source, k.strided = 1, k.reach = "1";
    k.inputs = &in, k.outputs = &out, k.n_inputs = k.n_outputs = 1;
    k.parameters = places, k.n_parameters = 2, k.global = "in0_1,in0_0";
    o.name = "x", o.shape = "4x8:i32", o.role = VPU_ROLE_INPUT;
    o.border = VPU_BORDER_REPLICATE;
    for (int i = 0; i < 2; i++)
        o.pad_before[i] = o.pad_after[i] = 1;
    a.inputs = &x, a.n_inputs = 1, a.output_role = VPU_ROLE_OUTPUT;
    if (vpu_context_create(&c, NULL, &e) || vpu_context_register(c, &k, &e) ||
        vpu_graph_create(&g, c, &e) || vpu_graph_tensor(g, &o, &x, &e) ||
        vpu_graph_add(g, "sum", &a, &op, &e) || vpu_tensor_fill(x, "ramp", &e) ||
        vpu_graph_finalize(g, &e) || vpu_graph_run(g, NULL, NULL, &e) ||
        vpu_tensor_read(y = vpu_operation_output(op, 0), sums, sizeof sums, &e)) {
        fprintf(stderr, "%s\n", e.msg);
        return 1;
    }
    for (int i = 0; i < 32; i++)
        printf("%4d%s", sums[i / 8][i % 8], i % 8 == 7 ? "\n" : "");
    vpu_graph_free(g);
    vpu_context_free(c);
    return 0;
}
