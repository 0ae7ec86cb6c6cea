/* What the library adds to a launch, and how contexts in threads scale:
 * library [THREADS]. Prints a table for docs/library.md. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "include/vpusim/vpu.h"

enum { RUNS = 2000, ROUNDS = 9, MOST_THREADS = 64 };

typedef struct {
    vpu_context *context;
    vpu_graph *graph;
} prepared;

static void ok(vpu_status status, const vpu_error *error)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", error->msg);
    exit(1);
}

/* A graph of one small operation, ready to run; one host thread. */
static prepared prepare(const char *backend, const char *shape)
{
    vpu_context_options where = VPU_CONTEXT_OPTIONS_INIT;
    vpu_tensor_options input = VPU_TENSOR_OPTIONS_INIT;
    vpu_add_options add = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;
    vpu_tensor *x;
    vpu_error error;
    prepared p;

    where.backend = backend;
    where.threads = 1;
    input.role = VPU_ROLE_INPUT;
    input.shape = shape;
    add.inputs = &x;
    add.n_inputs = 1;
    add.output_role = VPU_ROLE_OUTPUT;
    ok(vpu_context_create(&p.context, &where, &error), &error);
    ok(vpu_graph_create(&p.graph, p.context, &error), &error);
    ok(vpu_graph_tensor(p.graph, &input, &x, &error), &error);
    ok(vpu_graph_add(p.graph, "relu", &add, &op, &error), &error);
    ok(vpu_graph_finalize(p.graph, &error), &error);
    ok(vpu_tensor_fill(x, "ramp", &error), &error);
    return p;
}

static void finish(prepared *p)
{
    vpu_graph_free(p->graph);
    vpu_context_free(p->context);
}

static void run(const prepared *p, int times)
{
    vpu_result *result;
    vpu_error error;

    for (int i = 0; i < times; i++) {
        ok(vpu_graph_run(p->graph, NULL, &result, &error), &error);
        vpu_result_free(result);
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Seconds of a run, the median of several rounds. */
static double seconds_of_run(const prepared *p, int times)
{
    double s[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        double begin = clock_seconds();

        run(p, times);
        s[i] = (clock_seconds() - begin) / times;
    }
    qsort(s, ROUNDS, sizeof *s, by_size);
    return s[ROUNDS / 2];
}

static void *run_many(void *user)
{
    run(user, RUNS);
    return NULL;
}

/* Runs a second of n contexts in n threads. */
static double throughput(int n)
{
    prepared p[MOST_THREADS];
    pthread_t id[MOST_THREADS];
    double begin;

    for (int i = 0; i < n; i++)
        p[i] = prepare("sim", "4096:f32");
    begin = clock_seconds();
    for (int i = 1; i < n; i++)
        if (pthread_create(&id[i], NULL, run_many, &p[i]))
            exit(1);
    run_many(&p[0]);
    for (int i = 1; i < n; i++)
        pthread_join(id[i], NULL);
    begin = clock_seconds() - begin;
    for (int i = 0; i < n; i++)
        finish(&p[i]);
    return n * RUNS / begin;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    prepared null = prepare("null", "64:f32"), sim = prepare("sim", "64:f32");
    double alone;

    if (threads < 1 || threads > MOST_THREADS)
        return 2;
    printf("| | |\n|---|---|\n");
    printf("| the library's own part of a run | %.2f us |\n",
           seconds_of_run(&null, 50 * RUNS) * 1e6);
    printf("| a run of 64 elements on the simulator | %.0f us |\n",
           seconds_of_run(&sim, RUNS) * 1e6);
    finish(&null);
    finish(&sim);
    alone = throughput(1);
    printf("| %d contexts in %d threads, runs of 4096 elements, beside one "
           "| %.2f times as many |\n",
           threads, threads, throughput(threads) / alone);
    return 0;
}
