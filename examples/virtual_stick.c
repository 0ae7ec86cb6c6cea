#define _GNU_SOURCE
/* The same layer on the simulator and on a virtual stick, through USB's protocol:
 * `vpu stick` plays the stick in a process of its own. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vpusim/vpu.h>

enum { BYTES = 8 * 32 * 32 * 2 };

static int run(const char *backend, char *out, vpu_error *error)
{
    static const char *const binding[] = {"leaky_relu.xml"};
    static const char *const shape[] = {"in0=1x8x32x32"};
    static const char *const slope[] = {"slope=0.1"};
    vpu_layer_options layer = {.struct_size = sizeof layer, .bindings = binding,
                               .n_bindings = 1, .shapes = shape, .n_shapes = 1,
                               .params = slope, .n_params = 1};
    vpu_context_options where = {.struct_size = sizeof where, .backend = backend, .xlink = "C"};
    vpu_context *context = NULL;
    vpu_graph *graph = NULL;
    vpu_operation *op;
    int failed = vpu_context_create(&context, &where, error) ||
                 vpu_graph_create(&graph, context, error) ||
                 vpu_graph_add_layer(graph, &layer, &op, error) ||
                 vpu_graph_finalize(graph, error) ||
                 vpu_tensor_fill(vpu_operation_input(op, 0), "random:1", error) ||
                 vpu_graph_run(graph, NULL, NULL, error) ||
                 vpu_tensor_read(vpu_operation_output(op, 0), out, BYTES, error);

    vpu_graph_free(graph);
    vpu_context_free(context);
    return failed;
}

int main(void)
{
    static char simulated[BYTES], stick[BYTES];
    vpu_error error;
    int failed;
    pid_t child = fork();

    if (!child)
        return execlp("vpu", "vpu", "stick", "--xlink", "C", "--listen", "unix:stick.socket",
                      "--quiet", (char *)NULL);
    for (int i = 0; i < 100 && access("stick.socket", F_OK); i++)
        usleep(50000);
    failed = run("sim", simulated, &error) || run("usb:unix:stick.socket", stick, &error);
    kill(child, SIGTERM);
    waitpid(child, NULL, 0);
    if (failed)
        return fprintf(stderr, "%s\n", error.msg), 1;
    puts(memcmp(simulated, stick, BYTES) ? "they differ" : "the same bytes");
    return memcmp(simulated, stick, BYTES) != 0;
}
