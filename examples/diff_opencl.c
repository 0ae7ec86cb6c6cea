/* One program for two backends: the same graph on the simulator and on an OpenCL
 * device of this machine, and whether they agree. */
#include <stdio.h>
#include <vpusim/vpu.h>

static int build(const char *backend, vpu_context **context, vpu_graph **graph,
                 vpu_tensor **x, vpu_error *error)
{
    vpu_context_options where = {.struct_size = sizeof where, .backend = backend};
    vpu_tensor_options input = {.struct_size = sizeof input, .name = "x",
                                .role = VPU_ROLE_INPUT, .shape = "8x100:f32"};
    vpu_add_options o = {.struct_size = sizeof o, .inputs = x, .n_inputs = 1,
                         .output_role = VPU_ROLE_OUTPUT};
    vpu_operation *op;

    return vpu_context_create(context, &where, error) ||
           vpu_graph_create(graph, *context, error) ||
           vpu_graph_tensor(*graph, &input, x, error) ||
           vpu_graph_add(*graph, "softmax", &o, &op, error);
}

int main(void)
{
    static const char *const tolerance[] = {"ulp=16"};
    vpu_diff_options options = {.struct_size = sizeof options, .tolerances = tolerance,
                                .n_tolerances = 1};
    vpu_error error;
    vpu_context *sim, *opencl;
    vpu_graph *simulated, *reference;
    vpu_tensor *x, *unused;
    vpu_diff *diff;
    int equal;

    if (build("sim", &sim, &simulated, &x, &error) ||
        build("opencl", &opencl, &reference, &unused, &error) ||
        vpu_tensor_fill(x, "random:1", &error) ||
        vpu_diff_create(&diff, simulated, reference, &options, &error)) {
        fprintf(stderr, "%s\n", error.msg);
        return 1;
    }
    fputs(vpu_diff_text(diff), stdout);
    equal = vpu_diff_equal(diff);
    vpu_diff_free(diff);
    vpu_graph_free(simulated);
    vpu_graph_free(reference);
    vpu_context_free(sim);
    vpu_context_free(opencl);
    return !equal;
}
