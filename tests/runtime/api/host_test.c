/* Functions of the host between launches: what they see and write, where they
 * are refused, what reports tell of them. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

enum { N = 96 };

static vpu_context *sim;
static vpu_graph *g;
static arena *mem;
static char *dir;

static void setup(void)
{
    sim = api_context(NULL);
    mem = arena_create(0);
    dir = program_temp_dir(mem);
    api_ok(vpu_graph_create(&g, sim, &api_err));
}

static void teardown(void)
{
    vpu_graph_free(g);
    vpu_context_free(sim);
    program_remove_dir(dir);
    arena_destroy(mem);
}

/* --- graphs --------------------------------------------------------------- */

static vpu_tensor *make(const char *name, uint32_t role, const char *shape)
{
    vpu_tensor_options o = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *t;

    o.name = name;
    o.role = role;
    o.shape = shape;
    api_ok(vpu_graph_tensor(g, &o, &t, &api_err));
    return t;
}

static void scale(vpu_tensor *in, vpu_tensor *out, double factor)
{
    const vpu_value v = {"factor", 1, 0, factor};
    vpu_add_options o = VPU_ADD_OPTIONS_INIT;
    vpu_operation *op;

    o.name = arena_printf(mem, "to_%s", vpu_tensor_name(out));
    o.inputs = &in;
    o.outputs = &out;
    o.n_inputs = o.n_outputs = 1;
    o.values = &v;
    o.n_values = 1;
    api_ok(vpu_graph_add(g, "scale", &o, &op, &api_err));
}

/* y[i] = x[i] + add, and counts. */
typedef struct {
    int n, calls, released;
    float add;
    vpu_status fails;
} adder;

static vpu_status add_up(void *user, const void *const *inputs,
                         void *const *outputs, vpu_error *err)
{
    adder *of = user;
    const float *x = inputs[0];
    float *y = outputs[0];

    of->calls++;
    if (of->fails) {
        snprintf(err->msg, sizeof err->msg, "no more sums");
        return of->fails;
    }
    for (int i = 0; i < of->n; i++)
        y[i] = x[i] + of->add;
    return VPU_OK;
}

/* They outlive the graph. */
static adder a[9];

static void release(void *user)
{
    ((adder *)user)->released++;
}

static vpu_status host(const char *name, vpu_tensor *in, vpu_tensor *out,
                       adder *of, vpu_operation **op)
{
    vpu_host_options o = VPU_HOST_OPTIONS_INIT;

    o.name = name;
    o.inputs = &in;
    o.outputs = &out;
    o.n_inputs = o.n_outputs = 1;
    o.function = add_up;
    o.user = of;
    o.release = release;
    return vpu_graph_add_host(g, &o, op, &api_err);
}

static vpu_tensor *row_of(vpu_tensor *t, uint32_t row)
{
    vpu_view_options o = VPU_VIEW_OPTIONS_INIT;
    vpu_tensor *v;

    o.start[0] = row;
    o.dims[0] = 1;
    o.dims[1] = N;
    api_ok(vpu_graph_view(g, t, &o, &v, &api_err));
    return v;
}

/* y = (2 x + 1) * 3 in row 1, (2 x + 1) + 10 in row 0: host functions in
 * front, between and behind launches, on views and whole tensors. */
static void build(vpu_operation *op[3])
{
    vpu_tensor *x = make("x", VPU_ROLE_INPUT, "1x96:f32");
    vpu_tensor *y = make("y", VPU_ROLE_OUTPUT, "2x96:f32");
    vpu_tensor *p = make("p", VPU_ROLE_VIRTUAL, "1x96:f32");
    vpu_tensor *q = make("q", VPU_ROLE_VIRTUAL, "1x96:f32");
    vpu_tensor *r = make("r", VPU_ROLE_VIRTUAL, "1x96:f32");
    vpu_tensor *last = row_of(y, 0);

    for (int i = 0; i < 3; i++)
        a[i] = (adder){.n = N};
    a[0].add = 5;
    a[1].add = -9; /* 2 (x + 5) - 9 = 2 x + 1 */
    a[2].add = 10;
    api_ok(host("first", x, p, &a[0], &op[0]));
    scale(p, q, 2);
    api_ok(host("between", q, r, &a[1], &op[1]));
    scale(r, row_of(y, 1), 3);
    api_ok(host("behind", r, last, &a[2], &op[2]));
}

static void check_output(vpu_tensor *x)
{
    const float *in = vpu_tensor_data(x);
    const float *y = vpu_tensor_data(vpu_graph_tensor_named(g, "y"));

    for (int i = 0; i < N; i++) {
        float sum = 2 * (in[i] + 5) - 9;

        ck_assert_float_eq(y[i], sum + 10);
        ck_assert_float_eq(y[N + i], sum * 3);
    }
}

static void run_twice(void)
{
    vpu_tensor *x = vpu_graph_tensor_at(g, VPU_ROLE_INPUT, 0);

    api_ok(vpu_graph_finalize(g, &api_err));
    for (int k = 1; k <= 2; k++) {
        api_ok(vpu_tensor_fill(x, k == 1 ? "ramp" : "random:3", &api_err));
        api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
        check_output(x);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(a[i].calls, k);
    }
}

/* --- where they run ------------------------------------------------------- */

START_TEST(functions_run_between_launches)
{
    vpu_operation *op[3];

    build(op);
    ck_assert_str_eq(vpu_operation_name(op[1]), "between");
    ck_assert_str_eq(vpu_tensor_name(vpu_operation_input(op[1], 0)), "q");
    ck_assert_str_eq(vpu_tensor_name(vpu_operation_output(op[1], 0)), "r");
    ck_assert_uint_eq(vpu_operation_global(op[1], 0), 0);
    run_twice();
    vpu_graph_free(g);
    g = NULL;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(a[i].released, 1);
}
END_TEST

START_TEST(functions_on_an_opencl_device)
{
    vpu_context *opencl = api_context("opencl");
    vpu_operation *op[3];

    vpu_graph_free(g);
    api_ok(vpu_graph_create(&g, opencl, &api_err));
    build(op);
    run_twice();
    vpu_graph_free(g);
    vpu_context_free(opencl);
    g = NULL;
}
END_TEST

START_TEST(imported_input)
{
    vpu_operation *op[3];
    float own[N];

    build(op);
    for (int i = 0; i < N; i++)
        own[i] = (float)i;
    api_ok(vpu_tensor_import(vpu_graph_tensor_named(g, "x"), own, sizeof own,
                             &api_err));
    run_twice();
}
END_TEST

/* Tensors of the host share memory with none that is needed with them. */
START_TEST(memory_plan_knows_what_the_host_needs)
{
    enum { STEPS = 9 };
    vpu_memory_use use = VPU_MEMORY_USE_INIT;
    vpu_tensor *x = make("x", VPU_ROLE_INPUT, "1x96:f32"), *at = x, *to;
    vpu_operation *op;
    float factor = 1, add = 0;

    for (int i = 0; i < STEPS; i++) {
        a[i] = (adder){.n = N, .add = (float)i};
        to = make(NULL, VPU_ROLE_VIRTUAL, "1x96:f32");
        if (i % 3) {
            api_ok(host(NULL, at, to, &a[i], &op));
            add += (float)i;
        } else {
            scale(at, to, 2);
            factor *= 2;
            add *= 2;
        }
        at = to;
    }
    scale(at, make("y", VPU_ROLE_OUTPUT, "1x96:f32"), 1);
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_graph_memory(g, &use, &api_err));
    ck_assert_uint_eq(use.apart, STEPS * N * 4);
    ck_assert_uint_lt(use.planned, use.apart);
    ck_assert_uint_ge(use.planned, 2 * N * 4);
    api_ok(vpu_tensor_fill(x, "random:1", &api_err));
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    for (int i = 0; i < N; i++)
        ck_assert_float_eq_tol(
            ((float *)vpu_tensor_data(vpu_graph_tensor_named(g, "y")))[i],
            ((float *)vpu_tensor_data(x))[i] * factor + add, 1e-4f);
}
END_TEST

/* Sums and differences, of two. */
static vpu_status both(void *user, const void *const *inputs,
                       void *const *outputs, vpu_error *err)
{
    const float *x = inputs[0], *y = inputs[1];

    (void)user, (void)err;
    for (int i = 0; i < N; i++) {
        ((float *)outputs[0])[i] = x[i] + y[i];
        ((float *)outputs[1])[i] = x[i] - y[i];
    }
    return VPU_OK;
}

static void two_of_each(vpu_context *c)
{
    vpu_host_options o = VPU_HOST_OPTIONS_INIT;
    float w[N];
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *in[2], *out[2], *x, *sum;
    vpu_operation *op;

    vpu_graph_free(g);
    api_ok(vpu_graph_create(&g, c, &api_err));
    for (int i = 0; i < N; i++)
        w[i] = (float)i / 2;
    x = make("x", VPU_ROLE_INPUT, "1x96:f32");
    in[0] = make("m", VPU_ROLE_VIRTUAL, "1x96:f32");
    t.role = VPU_ROLE_CONSTANT;
    t.shape = "1x96:f32";
    t.data = w;
    api_ok(vpu_graph_tensor(g, &t, &in[1], &api_err));
    sum = out[0] = make("sum", VPU_ROLE_OUTPUT, "1x96:f32");
    out[1] = make("difference", VPU_ROLE_VIRTUAL, "1x96:f32");
    scale(x, in[0], 2);
    o.inputs = in;
    o.outputs = out;
    o.n_inputs = o.n_outputs = 2;
    o.function = both;
    api_ok(vpu_graph_add_host(g, &o, &op, &api_err));
    ck_assert_ptr_eq(vpu_operation_output(op, 1), out[1]);
    scale(out[1], make("y", VPU_ROLE_OUTPUT, "1x96:f32"), 4);
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(x, "ramp", &api_err));
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    for (int i = 0; i < N; i++) {
        float twice = (float)i / 256 * 2;

        ck_assert_float_eq(((float *)vpu_tensor_data(sum))[i], twice + w[i]);
        ck_assert_float_eq(
            ((float *)vpu_tensor_data(vpu_graph_tensor_named(g, "y")))[i],
            (twice - w[i]) * 4);
    }
}

START_TEST(several_inputs_and_outputs)
{
    vpu_context *opencl = api_context("opencl");

    two_of_each(sim);
    two_of_each(opencl);
    vpu_context_free(opencl);
}
END_TEST

/* In place: what it reads it writes. */
START_TEST(input_that_is_the_output)
{
    vpu_tensor *x = make("x", VPU_ROLE_INPUT, "1x96:f32");
    vpu_tensor *m = make("m", VPU_ROLE_VIRTUAL, "1x96:f32");
    vpu_tensor *y = make("y", VPU_ROLE_OUTPUT, "1x96:f32");
    vpu_operation *op;

    a[0] = (adder){.n = N, .add = 4};
    scale(x, m, 2);
    api_ok(host("more", m, m, &a[0], &op));
    scale(m, y, 3);
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(x, "ramp", &api_err));
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(((float *)vpu_tensor_data(y))[i],
                           ((float)i / 256 * 2 + 4) * 3);
}
END_TEST

/* --- reports -------------------------------------------------------------- */

START_TEST(time_of_the_host_is_a_row_of_its_own)
{
    vpu_operation *op[3], *cell;
    vpu_result *r;
    double v;

    api_ok(vpu_graph_begin(g, "cell", &cell, &api_err));
    build(op);
    api_ok(vpu_graph_end(cell, &api_err));
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(vpu_graph_tensor_named(g, "x"), "ramp", &api_err));
    api_ok(vpu_graph_run(g, NULL, &r, &api_err));
    ck_assert_uint_eq(vpu_result_launch_count(r), 2);
    ck_assert_uint_eq(vpu_result_operation_cycles(r, op[1]), 0);
    ck_assert_double_gt(vpu_result_operation_seconds(r, op[1]), 0);
    ck_assert_uint_eq(vpu_result_operation_cycles(r, cell),
                      vpu_result_cycles(r));
    ck_assert_double_gt(vpu_result_operation_seconds(r, cell),
                        vpu_result_seconds(r));
    api_ok(vpu_result_counter(r, "hosts.1.cycles", &v, &api_err));
    ck_assert_double_eq(v, 0);
    api_ok(vpu_result_counter(r, "hosts.1.before", &v, &api_err));
    ck_assert_double_eq(v, 1);
    api_ok(vpu_result_counter(r, "hosts.2.host_s", &v, &api_err));
    ck_assert_double_eq_tol(v, vpu_result_operation_seconds(r, op[2]), 1e-12);
    ck_assert_ptr_nonnull(
        strstr(vpu_result_text(r), "cell/between: a function of the host\n"));
    ck_assert_ptr_nonnull(strstr(vpu_result_json(r), "\"cell/behind\""));
    vpu_result_free(r);
}
END_TEST

START_TEST(failing_function_ends_the_run)
{
    vpu_operation *op[3];

    build(op);
    a[1].fails = VPU_ERR_LIMIT;
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(vpu_graph_tensor_named(g, "x"), "ramp", &api_err));
    api_fails(vpu_graph_run(g, NULL, NULL, &api_err), VPU_ERR_LIMIT,
              "operation between: no more sums");
    ck_assert_int_eq(a[2].calls, 0);
    a[1].fails = VPU_OK;
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    check_output(vpu_graph_tensor_named(g, "x"));
}
END_TEST

/* --- verifying ------------------------------------------------------------ */

START_TEST(what_is_refused)
{
    vpu_host_options o = VPU_HOST_OPTIONS_INIT;
    vpu_tensor *x = make("x", VPU_ROLE_INPUT, "1x96:f32");
    vpu_tensor *m = make("m", VPU_ROLE_VIRTUAL, "1x96:f32");
    vpu_tensor *y = make("y", VPU_ROLE_OUTPUT, "2x96:f32");
    vpu_operation *op;

    api_fails(vpu_graph_add_host(g, &o, &op, &api_err), VPU_ERR_INVALID,
              "function is NULL");
    o.function = add_up;
    api_fails(vpu_graph_add_host(g, &o, &op, &api_err), VPU_ERR_INVALID,
              "neither inputs nor outputs");
    o.n_inputs = 1;
    api_fails(vpu_graph_add_host(g, &o, &op, &api_err), VPU_ERR_INVALID,
              "inputs is NULL");
    api_fails(host("h", NULL, y, &a[0], &op), VPU_ERR_INVALID,
              "input 0 is NULL");
    api_fails(host("h", m, x, &a[0], &op), VPU_ERR_INVALID,
              "output 0, x, is an input of the graph");
    ck_assert_ptr_null(op);
    ck_assert_int_eq(a[0].released, 0);
    api_ok(host("early", m, y, &a[0], &op));
    api_fails(vpu_operation_set_integer(op, "n", 1, &api_err), VPU_ERR_INVALID,
              "a function of the host");
    scale(x, m, 1);
    api_fails(vpu_graph_finalize(g, &api_err), VPU_ERR_INVALID,
              "early reads tensor m, which nothing has written yet");
}
END_TEST

START_TEST(writers_that_overlap)
{
    vpu_tensor *x = make("x", VPU_ROLE_INPUT, "1x96:f32");
    vpu_tensor *y = make("y", VPU_ROLE_OUTPUT, "2x96:f32");
    vpu_operation *op;

    scale(x, row_of(y, 1), 1);
    api_ok(host("all", x, y, &a[0], &op));
    api_fails(vpu_graph_finalize(g, &api_err), VPU_ERR_INVALID,
              "to_view0 and all write parts of y that overlap");
}
END_TEST

START_TEST(graph_of_functions_alone)
{
    vpu_operation *op;
    vpu_tensor *x = make("x", VPU_ROLE_INPUT, "1x96:f32");

    api_ok(host("h", x, make("y", VPU_ROLE_OUTPUT, "1x96:f32"), &a[0], &op));
    api_fails(vpu_graph_finalize(g, &api_err), VPU_ERR_INVALID,
              "no operation but functions of the host");
}
END_TEST

START_TEST(who_refuses_it)
{
    vpu_findings *f;
    vpu_diff *d;
    vpu_operation *op[3];

    build(op);
    api_ok(vpu_tensor_fill(vpu_graph_tensor_named(g, "x"), "ramp", &api_err));
    api_fails(vpu_graph_check(&f, g, NULL, &api_err), VPU_ERR_UNSUPPORTED,
              "operation first is a function of the host: checkers");
    api_fails(vpu_diff_create(&d, g, g, NULL, &api_err), VPU_ERR_UNSUPPORTED,
              "operation first is a function of the host");
    api_fails(vpu_graph_save(g, file_join(mem, dir, "g"), NULL, &api_err),
              VPU_ERR_UNSUPPORTED, "operation first");
    api_fails(vpu_graph_export(g, file_join(mem, dir, "g"), NULL, &api_err),
              VPU_ERR_UNSUPPORTED, "operation first");
    ck_assert(!file_exists(file_join(mem, dir, "g")));
    run_twice();
}
END_TEST

/* A folder of outputs is a backend without launches apart. */
START_TEST(backend_that_runs_a_graph_as_a_whole)
{
    vpu_operation *op[3];
    vpu_context *npy;

    build(op);
    run_twice();
    api_ok(vpu_tensor_save(vpu_graph_tensor_named(g, "y"),
                           file_join(mem, dir, "y.npy"), &api_err));
    vpu_graph_free(g);
    npy = api_context(arena_printf(mem, "npy:%s", dir));
    api_ok(vpu_graph_create(&g, npy, &api_err));
    vpu_context_free(npy);
    build(op);
    api_fails(vpu_graph_finalize(g, &api_err), VPU_ERR_UNSUPPORTED,
              "operation first is a function of the host: the backend runs a "
              "graph only as a whole");
}
END_TEST

/* --- beside other parts --------------------------------------------------- */

START_TEST(tuning_gives_launches_what_the_host_makes)
{
    vpu_tune_options o = VPU_TUNE_OPTIONS_INIT;
    vpu_operation *op[3];

    build(op);
    run_twice();
    o.mode = VPU_TUNE_RAPID;
    api_ok(vpu_graph_tune(g, &o, &api_err));
    ck_assert_int_eq(a[0].calls, 3);
    ck_assert_int_eq(a[1].calls, 3);
    api_ok(vpu_graph_run(g, NULL, NULL, &api_err));
    check_output(vpu_graph_tensor_named(g, "x"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("hosts");
    Suite *suite = suite_create("functions of the host");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, functions_run_between_launches);
    tcase_add_test(t, functions_on_an_opencl_device);
    tcase_add_test(t, imported_input);
    tcase_add_test(t, memory_plan_knows_what_the_host_needs);
    tcase_add_test(t, several_inputs_and_outputs);
    tcase_add_test(t, input_that_is_the_output);
    tcase_add_test(t, time_of_the_host_is_a_row_of_its_own);
    tcase_add_test(t, failing_function_ends_the_run);
    tcase_add_test(t, what_is_refused);
    tcase_add_test(t, writers_that_overlap);
    tcase_add_test(t, graph_of_functions_alone);
    tcase_add_test(t, who_refuses_it);
    tcase_add_test(t, backend_that_runs_a_graph_as_a_whole);
    tcase_add_test(t, tuning_gives_launches_what_the_host_makes);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
