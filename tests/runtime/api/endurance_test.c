/* The library for a long time, in several threads, and where memory is short:
 * nothing grows, nothing is lost, and every context counts the same. */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/oom.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

enum { N = 4096 };

/* --- growth --------------------------------------------------------------- */

/* Pages of this process that are in memory. */
static long resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long all, n = 0;

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%ld %ld", &all, &n), 2);
    fclose(f);
    return n;
}

/* work(user) so many times, in two halves, the second of which takes no memory
 * more. Where it does, further halves follow: memory that is lost grows in each
 * of them, pages that the allocator keeps for threads that meet in another
 * order only now and then (342 pages once, on a busy machine). */
static void no_growth(void (*work)(void *user), void *user, int times)
{
    long first = 0, before = 0, after = 0;

    for (int half = 0; half < 5; half++) {
        before = after;
        for (int i = 0; i < times / 2; i++)
            work(user);
        after = resident();
        if (half == 0)
            first = after;
        else if (after - before < 256)
            return;
    }
    ck_abort_msg("%ld pages after the first half, %ld after the fifth", first,
                 after);
}

static void one_context(void *user)
{
    (void)user;
    vpu_context_free(api_context(NULL));
}

static void one_graph(void *user)
{
    vpu_graph *g;

    api_ok(vpu_graph_create(&g, user, &api_err));
    api_tensor(g, "x", VPU_ROLE_INPUT, VPU_F32, 4);
    vpu_graph_free(g);
}

static void one_program(void *user)
{
    vpu_program_free(api_program(user, api_scale_source));
}

static void one_run(void *user)
{
    api_scaling *s = user;
    vpu_result *r;

    api_ok(vpu_graph_run(s->graph, NULL, &r, &api_err));
    vpu_result_free(r);
}

static void one_of_everything(void *user)
{
    api_scaling s;
    vpu_result *r;
    vpu_findings *f;
    vpu_diff *d;

    api_scaling_open(&s, user, 64, 2);
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    api_ok(vpu_graph_run(s.graph, NULL, &r, &api_err));
    ck_assert_ptr_nonnull(vpu_result_counter_name(r, 0));
    api_ok(vpu_graph_check(&f, s.graph, NULL, &api_err));
    api_ok(vpu_diff_create(&d, s.graph, s.graph, NULL, &api_err));
    vpu_diff_free(d);
    vpu_findings_free(f);
    vpu_result_free(r);
    api_scaling_close(&s);
}

START_TEST(nothing_grows)
{
    vpu_context *c = api_context(NULL);
    api_scaling s;

    no_growth(one_context, NULL, 10000);
    no_growth(one_graph, c, 10000);
    no_growth(one_program, c, 10000);
    api_scaling_open(&s, c, 64, 2);
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    no_growth(one_run, &s, 1000);
    api_scaling_close(&s);
    no_growth(one_of_everything, c, 40);
    vpu_context_free(c);
}
END_TEST

/* --- threads -------------------------------------------------------------- */

typedef struct {
    vpu_context *context; /* NULL: one of its own */
    uint64_t cycles;
    float y[N];
} worker;

static void *work(void *user)
{
    worker *w = user;
    vpu_context *c = w->context ? w->context : api_context(NULL);
    api_scaling s;
    vpu_result *r;

    for (int i = 0; i < 4; i++) {
        api_scaling_open(&s, c, N, 0.5);
        api_ok(vpu_graph_finalize(s.graph, &api_err));
        api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
        api_ok(vpu_graph_run(s.graph, NULL, &r, &api_err));
        w->cycles = vpu_result_cycles(r);
        api_ok(vpu_tensor_read(s.y, w->y, sizeof w->y, &api_err));
        vpu_result_free(r);
        api_scaling_close(&s);
    }
    if (!w->context)
        vpu_context_free(c);
    return NULL;
}

/* Sixteen make, finalize and run graphs of one context; others have contexts
 * of their own at the same time. */
START_TEST(threads_count_the_same)
{
    enum { SHARED = 16, MANY = SHARED + 4 };
    static worker alone, w[MANY];
    vpu_context *shared = api_context(NULL);
    pthread_t id[MANY];

    work(&alone);
    ck_assert_uint_gt(alone.cycles, 0);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(alone.y[i], (float)(i % 256) / 512);
    for (int i = 0; i < MANY; i++) {
        w[i].context = i < SHARED ? shared : NULL;
        ck_assert_int_eq(pthread_create(&id[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < MANY; i++) {
        pthread_join(id[i], NULL);
        ck_assert_uint_eq(w[i].cycles, alone.cycles);
        ck_assert_mem_eq(w[i].y, alone.y, sizeof alone.y);
    }
    vpu_context_free(shared);
}
END_TEST

/* --- manners -------------------------------------------------------------- */

static void own_handler(int n)
{
    (void)n;
}

START_TEST(signals_and_streams_are_left_alone)
{
    const int signals[] = {SIGSEGV, SIGBUS,  SIGINT,  SIGTERM,
                           SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2};
    enum { N_SIGNALS = sizeof signals / sizeof *signals };
    struct sigaction is;
    char before[512], after[512];
    vpu_context *c = api_context(NULL);
    int out = dup(1), err = dup(2), pipes[2];
    char text[16];

    for (int i = 0; i < N_SIGNALS; i++)
        signal(signals[i], own_handler);
    ck_assert_ptr_nonnull(getcwd(before, sizeof before));
    ck_assert_int_eq(pipe(pipes), 0);
    dup2(pipes[1], 1);
    dup2(pipes[1], 2);
    close(pipes[1]);
    one_of_everything(c);
    fflush(NULL);
    dup2(out, 1);
    dup2(err, 2);
    ck_assert_int_eq(read(pipes[0], text, sizeof text), 0);
    for (int i = 0; i < N_SIGNALS; i++) {
        ck_assert_int_eq(sigaction(signals[i], NULL, &is), 0);
        ck_assert_ptr_eq((void *)is.sa_handler, (void *)own_handler);
    }
    ck_assert_ptr_nonnull(getcwd(after, sizeof after));
    ck_assert_str_eq(before, after);
    vpu_context_free(c);
}
END_TEST

/* --- memory is short ------------------------------------------------------ */

/* Everything that creates, with the n-th allocation failing: 0 = none does.
 * True when none was left to fail. */
static bool create_all(vpu_context *c, uint64_t n)
{
    vpu_program_options po = VPU_PROGRAM_OPTIONS_INIT;
    vpu_tensor_options to = VPU_TENSOR_OPTIONS_INIT;
    vpu_launch_options lo = VPU_LAUNCH_OPTIONS_INIT;
    vpu_context *own = NULL;
    vpu_program *p = NULL;
    vpu_graph *g = NULL;
    vpu_tensor *x = NULL, *y = NULL;
    const vpu_kernel *k = NULL;
    vpu_operation *op = NULL;
    vpu_result *r = NULL;
    vpu_status st;

    po.source = api_scale_source;
    to.type = VPU_F32;
    to.rank = 1;
    to.dims[0] = 8;
    lo.global[0] = 8;
    oom_fail_at(n);
    st = vpu_context_create(&own, NULL, &api_err);
    if (!st)
        st = vpu_program_create(&p, c, &po, &api_err);
    if (!st)
        st = vpu_program_kernel(p, NULL, &k, &api_err);
    if (!st)
        st = vpu_graph_create(&g, c, &api_err);
    to.role = VPU_ROLE_INPUT;
    if (!st)
        st = vpu_graph_tensor(g, &to, &x, &api_err);
    to.role = VPU_ROLE_OUTPUT;
    if (!st)
        st = vpu_graph_tensor(g, &to, &y, &api_err);
    if (!st)
        st = vpu_graph_add_kernel(g, k, &lo, &op, &api_err);
    if (!st)
        st = vpu_operation_set_tensor(op, "x", x, &api_err);
    if (!st)
        st = vpu_operation_set_tensor(op, "y", y, &api_err);
    if (!st)
        st = vpu_operation_set_real(op, "f", 2, &api_err);
    if (!st)
        st = vpu_graph_finalize(g, &api_err);
    if (!st)
        st = vpu_tensor_fill(x, "ramp", &api_err);
    if (!st)
        st = vpu_graph_run(g, NULL, &r, &api_err);
    if (!st)
        st = vpu_result_json(r) ? VPU_OK : VPU_ERR_NOMEM;
    oom_fail_at(0);
    ck_assert_msg(!st || st == VPU_ERR_NOMEM, "allocation %llu: %d %s",
                  (unsigned long long)n, st, api_err.msg);
    vpu_result_free(r);
    vpu_graph_free(g);
    vpu_program_free(p);
    vpu_context_free(own);
    return !st;
}

START_TEST(every_allocation_may_fail)
{
    vpu_context *c = api_context(NULL);
    uint64_t n = 1;

    ck_assert(create_all(c, 0)); /* the kernel's code is in the cache then */
    while (!create_all(c, n))
        n++;
    ck_assert_uint_gt(n, 10);
    vpu_context_free(c);
}
END_TEST

/* One call each, on a graph that is there already. */
typedef struct {
    vpu_context *c;
    api_scaling s; /* finalized, with an input */
    vpu_graph *g;  /* new, with an input */
    vpu_tensor *x;
} ready;

static vpu_status add_kind(ready *r)
{
    const vpu_value two = {"factor", 1, 0, 2};
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;

    o.inputs = &r->x;
    o.n_inputs = 1;
    o.values = &two;
    o.n_values = 1;
    return vpu_graph_add(r->g, "scale", &o, &op, &api_err);
}

static vpu_status add_layer(ready *r)
{
    static const char *const binding = "kernels/grn/layer.xml";
    static const char *const shape = "in0=1x4x2x8", *const param = "bias=1.0";
    vpu_layer_options o = VPU_LAYER_OPTIONS_INIT;
    vpu_operation *op;

    o.bindings = &binding;
    o.shapes = &shape;
    o.params = &param;
    o.n_bindings = o.n_shapes = o.n_params = 1;
    o.layer = "GRN";
    return vpu_graph_add_layer(r->g, &o, &op, &api_err);
}

static vpu_status make_view(ready *r)
{
    vpu_view_options o = VPU_VIEW_OPTIONS_INIT;
    vpu_tensor *v;

    o.dims[0] = 3;
    return vpu_graph_view(r->g, r->x, &o, &v, &api_err);
}

static vpu_status make_padded(ready *r)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    static const float data[6];
    vpu_tensor *t;

    o.role = VPU_ROLE_CONSTANT;
    o.shape = "2x3:f32";
    o.pad_after[1] = 2;
    o.data = data;
    return vpu_graph_tensor(r->g, &o, &t, &api_err);
}

static vpu_status register_kind(ready *r)
{
    static const char *const out = "y";
    vpu_kind k = VPU_KIND_INIT;

    k.name = "mine";
    k.source = api_scale_source;
    k.outputs = &out;
    k.n_outputs = 1;
    k.global = "1";
    return vpu_context_register(r->c, &k, &api_err);
}

static vpu_status look_for_devices(ready *r)
{
    vpu_devices *d;
    vpu_status st = vpu_devices_create(&d, &api_err);

    (void)r;
    vpu_devices_free(d);
    return st;
}

static vpu_status check(ready *r)
{
    vpu_findings *f;
    vpu_status st = vpu_graph_check(&f, r->s.graph, NULL, &api_err);

    if (!st && (!vpu_findings_report(f) || !vpu_findings_json(f) ||
                !vpu_findings_sarif(f)))
        st = VPU_ERR_NOMEM;
    vpu_findings_free(f);
    return st;
}

static vpu_status compare(ready *r)
{
    vpu_diff *d;
    vpu_status st = vpu_diff_create(&d, r->s.graph, r->s.graph, NULL, &api_err);

    if (!st && (!vpu_diff_text(d) || !vpu_diff_json(d)))
        st = VPU_ERR_NOMEM;
    vpu_diff_free(d);
    return st;
}

static vpu_status clone_graph(ready *r)
{
    vpu_graph *g;
    vpu_status st = vpu_graph_clone(&g, r->s.graph, NULL, &api_err);

    vpu_graph_free(g);
    return st;
}

static vpu_status instances(ready *r)
{
    vpu_instances *all;
    vpu_status st = vpu_instances_create(&all, r->s.graph, 2, &api_err);

    vpu_instances_free(all);
    return st;
}

static vpu_status split(ready *r)
{
    vpu_result *result;
    vpu_status st =
        vpu_graph_run_split(&r->s.graph, 1, NULL, &result, &api_err);

    vpu_result_free(result);
    return st;
}

static vpu_status tune(ready *r)
{
    return vpu_graph_tune(r->s.graph, NULL, &api_err);
}

static vpu_status report(ready *r)
{
    vpu_result *result;
    vpu_status st = vpu_graph_run(r->s.graph, NULL, &result, &api_err);

    if (!st &&
        (!vpu_result_text(result) || !vpu_result_counter_name(result, 0)))
        st = VPU_ERR_NOMEM;
    vpu_result_free(result);
    if (!st && !vpu_graph_memory_text(r->s.graph))
        st = VPU_ERR_NOMEM;
    return st;
}

static vpu_status (*const calls[])(ready *r) = {
    add_kind,      add_layer,        make_view, make_padded,
    register_kind, look_for_devices, check,     compare,
    clone_graph,   instances,        split,     tune,
    report};
enum { N_CALLS = sizeof calls / sizeof *calls };

/* The call with its n-th allocation failing; 0 = none does. */
static vpu_status call_with(vpu_context *c, int i, uint64_t n)
{
    ready r = {.c = c};
    vpu_status st;

    api_scaling_open(&r.s, c, 8, 2);
    api_ok(vpu_graph_finalize(r.s.graph, &api_err));
    api_ok(vpu_tensor_fill(r.s.x, "ramp", &api_err));
    api_ok(vpu_graph_create(&r.g, c, &api_err));
    r.x = api_tensor(r.g, "x", VPU_ROLE_INPUT, VPU_F32, 8);
    oom_fail_at(n);
    st = calls[i](&r);
    oom_fail_at(0);
    ck_assert_msg(!st || st == VPU_ERR_NOMEM, "call %d, allocation %llu: %d %s",
                  i, (unsigned long long)n, st, api_err.msg);
    vpu_graph_free(r.g);
    api_scaling_close(&r.s);
    return st;
}

START_TEST(every_allocation_of_a_call_may_fail)
{
    vpu_context *c = api_context(NULL);
    uint64_t n = 1;

    api_ok(call_with(c, _i, 0));
    while (call_with(c, _i, n))
        n++;
    vpu_context_free(c);
}
END_TEST

/* Likewise files of a graph, and one that is loaded; a file is there only when
 * all went well. */
static bool save_all(api_scaling *s, const char *path, uint64_t n)
{
    vpu_graph *loaded = NULL;
    vpu_status st;

    remove(path);
    oom_fail_at(n);
    st = vpu_graph_save(s->graph, path, NULL, &api_err);
    ck_assert_int_eq(!st, file_exists(path));
    if (!st)
        st = vpu_graph_load(&loaded, s->context, path, &api_err);
    if (!st)
        st = vpu_graph_finalize(loaded, &api_err);
    if (!st)
        st = vpu_graph_export(loaded, path, NULL, &api_err);
    oom_fail_at(0);
    ck_assert_msg(!st || st == VPU_ERR_NOMEM, "allocation %llu: %d %s",
                  (unsigned long long)n, st, api_err.msg);
    vpu_graph_free(loaded);
    return !st;
}

START_TEST(every_allocation_for_a_file_may_fail)
{
    vpu_context *c = api_context(NULL);
    arena *a = arena_create(0);
    char *dir = program_temp_dir(a);
    const char *path = file_join(a, dir, "graph");
    api_scaling s;
    uint64_t n = 1;

    api_scaling_open(&s, c, 8, 2);
    ck_assert(save_all(&s, path, 0));
    while (!save_all(&s, path, n))
        n++;
    ck_assert_uint_gt(n, 10);
    api_scaling_close(&s);
    program_remove_dir(dir);
    arena_destroy(a);
    vpu_context_free(c);
}
END_TEST

static vpu_status copy(void *user, const void *const *inputs,
                       void *const *outputs, vpu_error *err)
{
    (void)user, (void)err;
    memcpy(outputs[0], inputs[0], 8 * sizeof(float));
    return VPU_OK;
}

/* Likewise a function of the host. */
static bool add_and_run(vpu_context *c, uint64_t n)
{
    vpu_host_options o = VPU_HOST_OPTIONS_INIT;
    vpu_operation *op;
    api_scaling s;
    vpu_tensor *z;
    vpu_status st;

    api_scaling_open(&s, c, 8, 2);
    z = api_tensor(s.graph, "z", VPU_ROLE_OUTPUT, VPU_F32, 8);
    o.inputs = &s.y;
    o.outputs = &z;
    o.n_inputs = o.n_outputs = 1;
    o.function = copy;
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    oom_fail_at(n);
    st = vpu_graph_add_host(s.graph, &o, &op, &api_err);
    if (!st)
        st = vpu_graph_finalize(s.graph, &api_err);
    if (!st)
        st = vpu_graph_run(s.graph, NULL, NULL, &api_err);
    oom_fail_at(0);
    ck_assert_msg(!st || st == VPU_ERR_NOMEM, "allocation %llu: %d %s",
                  (unsigned long long)n, st, api_err.msg);
    if (!st)
        ck_assert_float_eq(((float *)vpu_tensor_data(z))[7], 14.0f / 256);
    api_scaling_close(&s);
    return !st;
}

START_TEST(every_allocation_for_the_host_may_fail)
{
    vpu_context *c = api_context(NULL);
    uint64_t n = 1;

    ck_assert(add_and_run(c, 0));
    while (!add_and_run(c, n))
        n++;
    vpu_context_free(c);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("endurance");
    Suite *suite = suite_create("library: endurance");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 300);
    /* Sanitizers keep what was freed, for a while. */
    if (!getenv("VPU_BUILD") || strstr(getenv("VPU_BUILD"), "/release"))
        tcase_add_test(t, nothing_grows);
    else
        puts("skipped 1: memory that a sanitizer keeps");
    tcase_add_test(t, every_allocation_may_fail);
    tcase_add_loop_test(t, every_allocation_of_a_call_may_fail, 0, N_CALLS);
    tcase_add_test(t, every_allocation_for_a_file_may_fail);
    tcase_add_test(t, every_allocation_for_the_host_may_fail);
    tcase_add_test(t, threads_count_the_same);
    tcase_add_test(t, signals_and_streams_are_left_alone);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
