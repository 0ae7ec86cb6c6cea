/* Two contexts in two threads: each runs a layer, and both count the same cycles. */
#include <pthread.h>
#include <stdio.h>
#include <vpusim/vpu.h>

typedef struct {
    unsigned long long cycles;
    vpu_error error;
} work;

static void *run(void *user)
{
    static const char *const binding[] = {"leaky_relu.xml"};
    static const char *const shape[] = {"in0=1x16x64x64"};
    static const char *const slope[] = {"slope=0.1"};
    vpu_layer_options layer = {.struct_size = sizeof layer, .bindings = binding,
                               .n_bindings = 1, .shapes = shape, .n_shapes = 1,
                               .params = slope, .n_params = 1};
    work *w = user;
    vpu_context *context = NULL;
    vpu_graph *graph = NULL;
    vpu_operation *op;
    vpu_result *result = NULL;

    if (!vpu_context_create(&context, NULL, &w->error) &&
        !vpu_graph_create(&graph, context, &w->error) &&
        !vpu_graph_add_layer(graph, &layer, &op, &w->error) &&
        !vpu_graph_finalize(graph, &w->error) &&
        !vpu_tensor_fill(vpu_operation_input(op, 0), "random:1", &w->error) &&
        !vpu_graph_run(graph, NULL, &result, &w->error))
        w->cycles = vpu_result_cycles(result);
    vpu_result_free(result);
    vpu_graph_free(graph);
    vpu_context_free(context);
    return NULL;
}

int main(void)
{
    work w[2] = {{0}, {0}};
    pthread_t other;

    if (pthread_create(&other, NULL, run, &w[1]))
        return 1;
    run(&w[0]);
    pthread_join(other, NULL);
    for (int i = 0; i < 2; i++)
        printf("thread %d: %llu cycles%s\n", i, w[i].cycles, w[i].error.msg);
    return !w[0].cycles || w[0].cycles != w[1].cycles;
}
