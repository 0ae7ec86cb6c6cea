/* Graphs of the library, tuned: sizes, files, and values that stay. */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/runtime/api/api.h"

enum { W = 64, H = 48, N = W * H };

static vpu_context *sim;
static char file[] = "/tmp/vpu-tune-XXXXXX";

static void setup(void)
{
    int fd;

    strcpy(file + strlen(file) - 6, "XXXXXX");
    fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    close(fd);
    unlink(file); /* a name that is free */
    sim = api_context(NULL);
}

static void teardown(void)
{
    unlink(file);
    vpu_context_free(sim);
}

static const char two[] =
    "__kernel void blur(__global const float *x, __global float *y)\n"
    "{\n"
    "    int i = get_global_id(0), j = get_global_id(1), w = "
    "get_global_size(0);\n"
    "    int k = j * w + i;\n"
    "    y[k] = x[k] * 0.5f + (i ? x[k - 1] : 0) * 0.25f;\n"
    "}\n";

/* in -> v -> out, with work-groups of one item: the worst there is. */
typedef struct {
    vpu_program *program;
    vpu_graph *graph;
    vpu_tensor *in, *out;
    vpu_operation *op[2];
} net;

static void build(net *n, vpu_context *c)
{
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_tensor *v;
    float x[N];

    n->program = api_program(c, two);
    api_ok(vpu_program_kernel(n->program, NULL, &k, &api_err));
    api_ok(vpu_graph_create(&n->graph, c, &api_err));
    n->in = api_tensor(n->graph, "in", VPU_ROLE_INPUT, VPU_F32, N);
    v = api_tensor(n->graph, NULL, VPU_ROLE_VIRTUAL, VPU_F32, N);
    n->out = api_tensor(n->graph, "out", VPU_ROLE_OUTPUT, VPU_F32, N);
    for (int d = 0; d < 3; d++)
        l.local[d] = 1;
    l.global[0] = W;
    l.global[1] = H;
    for (int i = 0; i < 2; i++) {
        api_ok(vpu_graph_add_kernel(n->graph, k, &l, &n->op[i], &api_err));
        api_ok(
            vpu_operation_set_tensor(n->op[i], "x", i ? v : n->in, &api_err));
        api_ok(
            vpu_operation_set_tensor(n->op[i], "y", i ? n->out : v, &api_err));
    }
    for (int i = 0; i < N; i++)
        x[i] = (float)(i * 37 % 101);
    api_ok(vpu_graph_finalize(n->graph, &api_err));
    api_ok(vpu_tensor_write(n->in, x, sizeof x, &api_err));
}

static void drop(net *n)
{
    vpu_graph_free(n->graph);
    vpu_program_free(n->program);
}

static uint64_t run(net *n, float *y)
{
    vpu_result *r;
    uint64_t cycles;

    api_ok(vpu_graph_run(n->graph, NULL, &r, &api_err));
    api_ok(vpu_tensor_read(n->out, y, N * sizeof *y, &api_err));
    cycles = vpu_result_cycles(r);
    vpu_result_free(r);
    return cycles;
}

static void check_items(const net *n, int i, uint32_t least)
{
    uint32_t items = 1;

    for (uint32_t d = 0; d < 3; d++) {
        uint32_t local = vpu_operation_local(n->op[i], d);

        ck_assert_uint_gt(local, 0);
        ck_assert_uint_eq(vpu_operation_global(n->op[i], d) % local, 0);
        items *= local;
    }
    ck_assert_uint_ge(items, least);
    ck_assert_uint_le(items, 512);
}

START_TEST(a_bad_size_is_replaced)
{
    static const uint32_t modes[] = {0, VPU_TUNE_RAPID, VPU_TUNE_NORMAL,
                                     VPU_TUNE_EXHAUSTIVE};
    vpu_tune_options o = VPU_TUNE_OPTIONS_INIT;
    float before[N], after[N], kept[N];
    vpu_result *old;
    uint64_t slow, fast;
    const char *text;
    net n;

    build(&n, sim);
    ck_assert_uint_eq(vpu_operation_global(n.op[0], 0), W);
    ck_assert_uint_eq(vpu_operation_global(n.op[0], 1), H);
    ck_assert_uint_eq(vpu_operation_global(n.op[1], 2), 1);
    for (uint32_t d = 0; d < 3; d++)
        ck_assert_uint_eq(vpu_operation_local(n.op[0], d), 1);
    ck_assert_uint_eq(vpu_operation_local(n.op[0], 3), 0);
    ck_assert_uint_eq(vpu_operation_global(n.op[0], 3), 0);
    ck_assert_uint_eq(vpu_operation_local(NULL, 0), 0);
    slow = run(&n, before);
    api_ok(vpu_graph_run(n.graph, NULL, &old, &api_err));
    o.mode = modes[_i];
    api_ok(vpu_graph_tune(n.graph, _i ? &o : NULL, &api_err));
    /* The outputs that are there stay, and so does an earlier result. */
    api_ok(vpu_tensor_read(n.out, kept, sizeof kept, &api_err));
    ck_assert_mem_eq(kept, before, sizeof before);
    text = vpu_result_text(old);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_eq(vpu_result_cycles(old), slow);
    vpu_result_free(old);
    for (int i = 0; i < 2; i++)
        check_items(&n, i, 8);
    fast = run(&n, after);
    ck_assert_mem_eq(after, before, sizeof before);
    ck_assert_msg(fast * 2 < slow, "%llu cycles, before %llu",
                  (unsigned long long)fast, (unsigned long long)slow);
    drop(&n);
}
END_TEST

static char *contents(void)
{
    static char text[4096];
    FILE *f = fopen(file, "r");
    size_t n;

    ck_assert_ptr_nonnull(f);
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = 0;
    return text;
}

START_TEST(a_file_goes_round)
{
    vpu_tune_options o = VPU_TUNE_OPTIONS_INIT;
    vpu_context_options co = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *tuned;
    float x[N], y[N];
    char first[4096];
    uint64_t fast;
    net n, again;

    o.file = file;
    build(&n, sim);
    api_ok(vpu_graph_tune(n.graph, &o, &api_err));
    fast = run(&n, x);
    strcpy(first, contents());
    ck_assert_int_eq(strncmp(first, "vpu-tune 1\n", 11), 0);
    /* Both operations are alike: one row. */
    ck_assert_ptr_eq(strchr(strchr(first, '\n') + 1, '\n')[1] ? NULL : first,
                     first);
    api_ok(vpu_graph_tune(n.graph, &o, &api_err)); /* nothing to do */
    ck_assert_str_eq(contents(), first);
    co.tuned = file;
    api_ok(vpu_context_create(&tuned, &co, &api_err));
    build(&again, tuned); /* and finalized */
    for (uint32_t d = 0; d < 3; d++)
        ck_assert_uint_eq(vpu_operation_local(again.op[0], d),
                          vpu_operation_local(n.op[0], d));
    ck_assert_uint_eq(run(&again, y), fast);
    ck_assert_mem_eq(x, y, sizeof x);
    drop(&again);
    drop(&n);
    vpu_context_free(tuned);
}
END_TEST

/* A layer, whose first launch that is no conversion counts. */
START_TEST(layers_too)
{
    static const char *const bindings[] = {"kernels/reorg/layer.xml"};
    static const char *const shapes[] = {"in0=1x16x26x32", "out0=1x64x13x16"};
    static const char *const params[] = {"stride=2"};
    vpu_layer_options l = VPU_LAYER_OPTIONS_INIT;
    vpu_operation *op;
    vpu_graph *g;

    l.bindings = bindings;
    l.n_bindings = 1;
    l.layer = "Reorg";
    l.shapes = shapes;
    l.n_shapes = 2;
    l.params = params;
    l.n_params = 1;
    api_ok(vpu_graph_create(&g, sim, &api_err));
    api_ok(vpu_graph_add_layer(g, &l, &op, &api_err));
    ck_assert_uint_eq(vpu_operation_local(op, 0), 16);
    ck_assert_uint_eq(vpu_operation_local(op, 1), 1);
    ck_assert_uint_eq(vpu_operation_global(op, 2), 64);
    api_ok(vpu_graph_finalize(g, &api_err));
    api_fails(vpu_graph_tune(g, NULL, &api_err), VPU_ERR_INVALID,
              "was never written");
    api_ok(vpu_tensor_fill(vpu_operation_input(op, 0), "random:1", &api_err));
    api_ok(vpu_graph_tune(g, NULL, &api_err));
    /* As in docs/tuning.md. */
    ck_assert_uint_eq(vpu_operation_local(op, 0), 16);
    ck_assert_uint_eq(vpu_operation_local(op, 1), 13);
    ck_assert_uint_eq(vpu_operation_local(op, 2), 2);
    vpu_graph_free(g);
}
END_TEST

static void put(const char *text)
{
    FILE *f = fopen(file, "w");

    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

START_TEST(malformed_rows)
{
    vpu_tune_options o = VPU_TUNE_OPTIONS_INIT;
    vpu_context_options co = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;
    api_scaling s;
    net n;

    put("vpu-tune 1\n\ngrn 1;2;3\n");
    o.file = file;
    build(&n, sim);
    api_fails(vpu_graph_tune(n.graph, &o, &api_err), VPU_ERR_PARSE,
              ":3: error: 'grn 1;2;3'; expected a row");
    ck_assert_ptr_nonnull(strstr(api_err.msg, file));
    ck_assert_str_eq(contents(), "vpu-tune 1\n\ngrn 1;2;3\n");
    ck_assert_uint_eq(vpu_operation_local(n.op[0], 0), 1);
    drop(&n);
    co.tuned = file;
    api_ok(vpu_context_create(&c, &co, &api_err));
    api_scaling_open(&s, c, 64, 2);
    api_fails(vpu_graph_finalize(s.graph, &api_err), VPU_ERR_PARSE, file);
    unlink(file);
    api_fails(vpu_graph_finalize(s.graph, &api_err), VPU_ERR_IO, file);
    put("vpu-tune 1\n");
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    api_scaling_close(&s);
    vpu_context_free(c);
}
END_TEST

START_TEST(what_is_refused)
{
    vpu_tune_options o = VPU_TUNE_OPTIONS_INIT;
    vpu_context *c = api_context("null");
    api_scaling s;
    net n;

    api_fails(vpu_graph_tune(NULL, &o, &api_err), VPU_ERR_INVALID,
              "graph is NULL");
    api_scaling_open(&s, sim, 64, 2);
    api_fails(vpu_graph_tune(s.graph, &o, &api_err), VPU_ERR_INVALID,
              "vpu_graph_finalize");
    api_scaling_close(&s);
    build(&n, sim);
    o.mode = 4;
    api_fails(vpu_graph_tune(n.graph, &o, &api_err), VPU_ERR_INVALID, "mode");
    o.mode = VPU_TUNE_NORMAL;
    o.shaves_too = 1;
    api_fails(vpu_graph_tune(n.graph, &o, &api_err), VPU_ERR_INVALID,
              "exhaustive");
    o.struct_size = 0;
    api_fails(vpu_graph_tune(n.graph, &o, &api_err), VPU_ERR_INVALID, "_INIT");
    o = (vpu_tune_options)VPU_TUNE_OPTIONS_INIT;
    o.mode = VPU_TUNE_RAPID;
    o.file = "/nowhere/sizes.txt";
    api_fails(vpu_graph_tune(n.graph, &o, &api_err), VPU_ERR_IO, o.file);
    drop(&n);
    build(&n, c);
    api_fails(vpu_graph_tune(n.graph, NULL, &api_err), VPU_ERR_UNSUPPORTED,
              "null");
    drop(&n);
    vpu_context_free(c);
}
END_TEST

/* A graph of one launch with this body, of work-groups of two. */
static vpu_graph *one_launch(vpu_context *c, const char *body)
{
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    const vpu_kernel *k;
    vpu_operation *op;
    vpu_program *p;
    vpu_graph *g;
    char text[256];

    snprintf(text, sizeof text, "__kernel void bad(__global float *y)\n{%s}\n",
             body);
    p = api_program(c, text);
    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    api_ok(vpu_graph_create(&g, c, &api_err));
    l.global[0] = 64;
    l.local[0] = 2;
    api_ok(vpu_graph_add_kernel(g, k, &l, &op, &api_err));
    api_ok(vpu_operation_set_tensor(
        op, "y", api_tensor(g, "y", VPU_ROLE_OUTPUT, VPU_F32, 64), &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    vpu_program_free(p);
    return g;
}

static const struct {
    const char *body;
    vpu_status status;
    const char *words;
} bad[] = {
    {"y[get_global_id(0) + 100000000] = 1;", VPU_ERR_FAULT, "'bad'"},
    {"if (!get_local_id(0)) barrier(CLK_LOCAL_MEM_FENCE); y[0] = 1;",
     VPU_ERR_UNDEFINED, "same barrier"},
    {"while (y[0] == 0) y[1] += 1;", VPU_ERR_LIMIT, "50000 cycles"},
};
enum { N_BAD = sizeof bad / sizeof *bad };

/* A fault of the kernel's own size: sizes are as they were. */
START_TEST(faults_are_told)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;
    vpu_graph *g;

    o.max_cycles = 50000;
    api_ok(vpu_context_create(&c, &o, &api_err));
    g = one_launch(c, bad[_i].body);
    api_fails(vpu_graph_run(g, NULL, NULL, &api_err), bad[_i].status,
              bad[_i].words);
    api_fails(vpu_graph_tune(g, NULL, &api_err), bad[_i].status, bad[_i].words);
    ck_assert_uint_eq(vpu_operation_local(vpu_graph_operation_at(g, 0), 0), 2);
    vpu_graph_free(g);
    vpu_context_free(c);
}
END_TEST

static atomic_bool ended;

static void *cancel_until_ended(void *graph)
{
    while (!ended) {
        vpu_graph_cancel(graph);
        sched_yield();
    }
    return NULL;
}

START_TEST(tuning_is_cancelled)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    pthread_t thread;
    vpu_context *c;
    vpu_graph *g;

    o.max_cycles = UINT64_MAX;
    o.timeout = -1;
    api_ok(vpu_context_create(&c, &o, &api_err));
    g = one_launch(c, "while (y[0] == 0) y[1] += 1;");
    ck_assert_int_eq(pthread_create(&thread, NULL, cancel_until_ended, g), 0);
    api_fails(vpu_graph_tune(g, NULL, &api_err), VPU_ERR_STOPPED, "cancelled");
    ended = true;
    pthread_join(thread, NULL);
    ck_assert_uint_eq(vpu_operation_local(vpu_graph_operation_at(g, 0), 0), 2);
    vpu_graph_free(g);
    vpu_context_free(c);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("tune");
    Suite *suite = suite_create("library: local sizes tuned");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, a_bad_size_is_replaced, 0, 4);
    tcase_add_test(t, a_file_goes_round);
    tcase_add_test(t, layers_too);
    tcase_add_test(t, malformed_rows);
    tcase_add_test(t, what_is_refused);
    tcase_add_loop_test(t, faults_are_told, 0, N_BAD);
    tcase_add_test(t, tuning_is_cancelled);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
