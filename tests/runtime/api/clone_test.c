/* Graphs like another one: several runs of one graph at once. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/runtime/api/api.h"

enum { N = 960 };

static vpu_operation *add(vpu_graph *g, const char *kind, const char *name,
                          vpu_tensor *x, vpu_tensor *y)
{
    const vpu_value two = {"factor", 1, 0, 2};
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;

    o.name = name;
    o.inputs = &x;
    o.outputs = y ? &y : NULL;
    o.n_inputs = 1;
    o.n_outputs = y != NULL;
    o.values = &two;
    o.n_values = !strcmp(kind, "scale");
    api_ok(vpu_graph_add(g, kind, &o, &op, &api_err));
    return op;
}

static vpu_tensor *half(vpu_graph *g, vpu_tensor *t, const char *name,
                        uint32_t start)
{
    vpu_view_options o = VPU_VIEW_OPTIONS_INIT;
    vpu_tensor *v;

    o.name = name;
    o.start[0] = start;
    o.dims[0] = N / 2;
    api_ok(vpu_graph_view(g, t, &o, &v, &api_err));
    return v;
}

/* y = relu(2 x): a composed operation, whose second part is two of halves; and
 * an operation in place of a view of a view. */
static vpu_graph *make(vpu_context *c)
{
    vpu_operation *both, *op;
    vpu_tensor *x, *m, *y;
    vpu_graph *g;

    api_ok(vpu_graph_create(&g, c, &api_err));
    x = api_tensor(g, "x", VPU_ROLE_INPUT, VPU_F32, N);
    y = api_tensor(g, "y", VPU_ROLE_OUTPUT, VPU_F32, N);
    api_ok(vpu_graph_begin(g, "both", &both, &api_err));
    op = add(g, "scale", "twice", x, NULL);
    m = vpu_operation_output(op, 0);
    add(g, "relu", "first", half(g, m, "m0", 0), half(g, y, "y0", 0));
    add(g, "relu", "second", half(g, m, "m1", N / 2), half(g, y, "y1", N / 2));
    api_ok(vpu_graph_end(both, &api_err));
    return g;
}

static void fill(float *x, int k)
{
    for (int i = 0; i < N; i++)
        x[i] = (float)((i * (7 + k)) % 101 - 50);
}

/* Writes, runs, and compares; the cycles. */
static uint64_t expect_run(vpu_graph *g, int k)
{
    float x[N], y[N];
    vpu_result *r;
    uint64_t cycles;

    fill(x, k);
    api_ok(vpu_tensor_write(vpu_graph_tensor_named(g, "x"), x, sizeof x,
                            &api_err));
    api_ok(vpu_graph_run(g, NULL, &r, &api_err));
    api_ok(
        vpu_tensor_read(vpu_graph_tensor_named(g, "y"), y, sizeof y, &api_err));
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(y[i], x[i] > 0 ? 2 * x[i] : 0);
    cycles = vpu_result_cycles(r);
    vpu_result_free(r);
    return cycles;
}

START_TEST(clones_are_alike)
{
    vpu_context *c = api_context(NULL);
    vpu_graph *g = make(c), *clone;
    vpu_tensor *x, *y1;
    uint64_t cycles;

    api_ok(vpu_graph_clone(&clone, g, NULL, &api_err));
    x = vpu_graph_tensor_named(clone, "x");
    y1 = vpu_graph_tensor_named(clone, "y1");
    ck_assert_ptr_ne(x, vpu_graph_tensor_named(g, "x"));
    ck_assert_ptr_eq(vpu_tensor_parent(y1), vpu_graph_tensor_named(clone, "y"));
    ck_assert_uint_eq(vpu_tensor_dim(y1, 0), N / 2);
    api_fails(
        vpu_graph_begin(clone, "more", &(vpu_operation *){NULL}, &api_err),
        VPU_ERR_INVALID, "finalized");
    api_ok(vpu_graph_finalize(g, &api_err));
    cycles = expect_run(g, 0);
    api_fails(vpu_graph_run(clone, NULL, NULL, &api_err), VPU_ERR_INVALID,
              "not finalized");
    api_ok(vpu_graph_finalize(clone, &api_err));
    api_fails(vpu_graph_run(clone, NULL, NULL, &api_err), VPU_ERR_INVALID,
              "input x was never written");
    ck_assert_uint_eq(expect_run(clone, 1), cycles);
    vpu_graph_free(g); /* the clone has what it needs */
    vpu_context_free(c);
    ck_assert_uint_eq(expect_run(clone, 2), cycles);
    api_ok(vpu_graph_clone(&g, clone, NULL, &api_err));
    vpu_graph_free(clone);
    api_ok(vpu_graph_finalize(g, &api_err));
    ck_assert_uint_eq(expect_run(g, 3), cycles);
    vpu_graph_free(g);
}
END_TEST

START_TEST(clones_elsewhere)
{
    vpu_context *c = api_context(NULL), *opencl = api_context("opencl");
    vpu_graph *g = make(c), *clone;

    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_clone(&clone, g, opencl, &api_err));
    api_ok(vpu_graph_finalize(clone, &api_err));
    expect_run(clone, 4);
    vpu_graph_free(clone);
    vpu_graph_free(g);
    vpu_context_free(c);
    vpu_context_free(opencl);
}
END_TEST

START_TEST(graphs_that_have_no_clone)
{
    vpu_context *c = api_context(NULL);
    vpu_instances *many;
    vpu_graph *g, *clone;

    api_ok(vpu_graph_create(&g, c, &api_err));
    api_fails(vpu_graph_clone(&clone, g, NULL, &api_err), VPU_ERR_INVALID,
              "no operation");
    ck_assert_ptr_null(clone);
    api_fails(vpu_instances_create(&many, g, 2, &api_err), VPU_ERR_INVALID,
              "no operation");
    ck_assert_ptr_null(many);
    api_fails(vpu_instances_create(&many, g, 0, &api_err), VPU_ERR_INVALID,
              "0 instances");
    vpu_graph_free(g);
    vpu_context_free(c);
}
END_TEST

/* --- several -------------------------------------------------------------- */

enum { INSTANCES = 3, THREADS = 8, RUNS = 6 };

typedef struct {
    vpu_instances *all;
    uint64_t cycles;
    int k;
} worker;

static void *work(void *user)
{
    const worker *w = user;

    for (int i = 0; i < RUNS; i++) {
        vpu_graph *g;
        vpu_error err;

        ck_assert_int_eq(vpu_instances_acquire(w->all, 1, &g, &err), VPU_OK);
        ck_assert_uint_eq(expect_run(g, w->k + i), w->cycles);
        ck_assert_int_eq(vpu_instances_release(w->all, g, &err), VPU_OK);
    }
    return NULL;
}

START_TEST(runs_at_the_same_time)
{
    vpu_context *c = api_context(NULL);
    vpu_graph *g = make(c);
    worker w[THREADS];
    pthread_t id[THREADS];
    vpu_instances *all;
    uint64_t cycles;

    api_ok(vpu_graph_finalize(g, &api_err));
    cycles = expect_run(g, 0);
    api_ok(vpu_instances_create(&all, g, INSTANCES, &api_err));
    for (int k = 0; k < THREADS; k++) {
        w[k] = (worker){all, cycles, k};
        ck_assert_int_eq(pthread_create(&id[k], NULL, work, &w[k]), 0);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(id[k], NULL);
    vpu_instances_free(all);
    vpu_graph_free(g);
    vpu_context_free(c);
}
END_TEST

typedef struct {
    vpu_instances *all;
    vpu_graph *graph;
} giver;

static void *give_back(void *user)
{
    const giver *x = user;
    vpu_error err;

    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
    ck_assert_int_eq(vpu_instances_release(x->all, x->graph, &err), VPU_OK);
    return NULL;
}

START_TEST(taken_and_given_back)
{
    vpu_context *c = api_context(NULL);
    vpu_graph *g = make(c), *taken[INSTANCES], *more;
    vpu_instances *all;
    pthread_t id;

    api_ok(vpu_instances_create(&all, g, INSTANCES, &api_err));
    for (int i = 0; i < INSTANCES; i++) {
        api_ok(vpu_instances_acquire(all, 0, &taken[i], &api_err));
        ck_assert_ptr_ne(taken[i], g);
        for (int k = 0; k < i; k++)
            ck_assert_ptr_ne(taken[i], taken[k]);
    }
    api_fails(vpu_instances_acquire(all, 0, &more, &api_err), VPU_ERR_LIMIT,
              "all 3 instances are taken");
    ck_assert_ptr_null(more);
    api_fails(vpu_instances_release(all, g, &api_err), VPU_ERR_INVALID,
              "none of the instances");
    pthread_create(&id, NULL, give_back, &(giver){all, taken[1]});
    api_ok(vpu_instances_acquire(all, 1, &more, &api_err)); /* waits */
    pthread_join(id, NULL);
    ck_assert_ptr_eq(more, taken[1]);
    api_ok(vpu_instances_release(all, more, &api_err));
    api_fails(vpu_instances_release(all, more, &api_err), VPU_ERR_INVALID,
              "instance 1 is not taken");
    vpu_instances_free(all);
    vpu_instances_free(NULL);
    vpu_graph_free(g);
    vpu_context_free(c);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("clones");
    Suite *suite = suite_create("library: graphs like another one");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_test(t, clones_are_alike);
    /* Drivers' threads are not instrumented. */
    if (!getenv("VPU_BUILD") || !strstr(getenv("VPU_BUILD"), "/tsan"))
        tcase_add_test(t, clones_elsewhere);
    else
        puts("skipped 1: a driver's threads");
    tcase_add_test(t, graphs_that_have_no_clone);
    tcase_add_test(t, runs_at_the_same_time);
    tcase_add_test(t, taken_and_given_back);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
