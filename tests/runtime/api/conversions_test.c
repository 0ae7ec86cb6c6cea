/* Layers that want channels innermost, and others that do not, in one graph:
 * conversions between them are there once, or not at all, and values stay. */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

enum { C = 5, H = 6, W = 8, N = C * H * W, MOST = 24 };

static arena *mem;
static char *dir;
static const char *binding[1];

/* Both do the same to an element, in their own memory order. */
static const char source[] =
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "__kernel void minor(__global const half *x, __global half *y, int C,\n"
    "                    float by)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    y[i] = (half)(x[i] * (half)0.5f) + (half)((i % C) * by);\n"
    "}\n"
    "__kernel void plain(__global const half *x, __global half *y, int C,\n"
    "                    float by)\n"
    "{\n"
    "    int i = get_global_id(0), plane = get_global_size(0) / C;\n"
    "    y[i] = (half)(x[i] * (half)0.5f) + (half)((i / plane) * by);\n"
    "}\n";

static const char layer[] =
    "<CustomLayer name=\"%s\" type=\"MVCL\" version=\"1\">\n"
    "  <Kernel entry=\"%s\"><Source filename=\"k.cl\"/><Parameters>\n"
    "    <Tensor arg-name=\"x\" type=\"input\" port-index=\"0\" "
    "format=\"%s\"/>\n"
    "    <Tensor arg-name=\"y\" type=\"output\" port-index=\"0\" "
    "format=\"%s\"/>\n"
    "    <Scalar arg-name=\"C\" type=\"int\" port-index=\"0\" "
    "source=\"I.F\"/>\n"
    "    <Scalar arg-name=\"by\" type=\"float\" source=\"by\"/>\n"
    "  </Parameters><WorkSizes dim=\"input,0\" global=\"B*F*Y*X,1,1\" "
    "local=\"Y*X,1,1\"/></Kernel>\n"
    "</CustomLayer>\n";

static void setup(void)
{
    char *xml;

    mem = arena_create(0);
    dir = program_temp_dir(mem);
    xml = arena_printf(mem, layer, "Minor", "minor", "BYXF", "BYXF");
    xml = arena_printf(
        mem, "%s%s", xml,
        arena_printf(mem, layer, "Plain", "plain", "BFYX", "BFYX"));
    binding[0] = file_join(mem, dir, "layers.xml");
    ck_assert_int_eq(file_write(binding[0], xml, strlen(xml), NULL), VPU_OK);
    ck_assert_int_eq(file_write(file_join(mem, dir, "k.cl"), source,
                                sizeof source - 1, NULL),
                     VPU_OK);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(mem);
}

/* A graph: operation i reads what `from` says, 0 the input, else 1 + an
 * operation; what nobody reads is an output. With `host` it reads what a
 * function of the host makes of that. */
typedef struct {
    int n, from[MOST];
    bool minor[MOST], output[MOST], host[MOST];
} plan;

typedef struct {
    uint16_t out[MOST][N];
    size_t launches;
    uint64_t cycles;
} run_result;

static vpu_tensor *add(vpu_graph *g, vpu_tensor *x, bool minor, bool output,
                       int number)
{
    const char *by[] = {arena_printf(mem, "by=%d", number + 1)};
    vpu_layer_options o = VPU_LAYER_OPTIONS_INIT;
    vpu_operation *op;

    o.name = arena_printf(mem, "op%d", number);
    o.bindings = binding;
    o.n_bindings = 1;
    o.layer = minor ? "Minor" : "Plain";
    o.params = by;
    o.n_params = 1;
    o.inputs = &x;
    o.n_inputs = 1;
    o.virtual_output = !output;
    api_ok(vpu_graph_add_layer(g, &o, &op, &api_err));
    return vpu_operation_output(op, 0);
}

/* The sign of every element changes. */
static vpu_status negate(void *user, const void *const *inputs,
                         void *const *outputs, vpu_error *err)
{
    const uint16_t *x = inputs[0];
    uint16_t *y = outputs[0];

    (void)user, (void)err;
    for (int i = 0; i < N; i++)
        y[i] = x[i] ^ 0x8000;
    return VPU_OK;
}

static vpu_tensor *on_host(vpu_graph *g, vpu_tensor *x)
{
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_host_options o = VPU_HOST_OPTIONS_INIT;
    vpu_operation *op;
    vpu_tensor *y;

    t.role = VPU_ROLE_VIRTUAL;
    t.shape = "1x5x6x8:f16";
    api_ok(vpu_graph_tensor(g, &t, &y, &api_err));
    o.inputs = &x;
    o.outputs = &y;
    o.n_inputs = o.n_outputs = 1;
    o.function = negate;
    api_ok(vpu_graph_add_host(g, &o, &op, &api_err));
    return y;
}

static void run(const plan *p, bool keep, run_result *out)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *made[MOST + 1];
    vpu_context *c;
    vpu_graph *g;
    vpu_result *r;

    o.keep_conversions = keep;
    api_ok(vpu_context_create(&c, &o, &api_err));
    api_ok(vpu_graph_create(&g, c, &api_err));
    t.name = "x";
    t.role = VPU_ROLE_INPUT;
    t.shape = "1x5x6x8:f16";
    api_ok(vpu_graph_tensor(g, &t, &made[0], &api_err));
    for (int i = 0; i < p->n; i++) {
        vpu_tensor *x = made[p->from[i]];

        made[i + 1] = add(g, p->host[i] ? on_host(g, x) : x, p->minor[i],
                          p->output[i], i);
    }
    api_ok(vpu_graph_finalize(g, &api_err));
    api_ok(vpu_tensor_fill(made[0], "random:1", &api_err));
    api_ok(vpu_graph_run(g, NULL, &r, &api_err));
    for (int i = 0; i < p->n; i++)
        if (p->output[i])
            api_ok(vpu_tensor_read(made[i + 1], out->out[i], sizeof out->out[i],
                                   &api_err));
    out->launches = vpu_result_launch_count(r);
    out->cycles = vpu_result_cycles(r);
    vpu_result_free(r);
    vpu_graph_free(g);
    vpu_context_free(c);
}

static run_result kept, cancelled;

/* Both ways; the same values. Conversions that are left. */
static size_t compare(const plan *p)
{
    run(p, true, &kept);
    run(p, false, &cancelled);
    for (int i = 0; i < p->n; i++)
        if (p->output[i])
            ck_assert_msg(
                !memcmp(kept.out[i], cancelled.out[i], sizeof kept.out[i]),
                "operation %d differs", i);
    ck_assert_uint_le(cancelled.launches, kept.launches);
    return cancelled.launches - (size_t)p->n;
}

START_TEST(a_row_of_two)
{
    const plan p = {2, {0, 1}, {true, true}, {false, true}, {false}};

    /* In and out; four without. */
    ck_assert_uint_eq(compare(&p), 2);
    ck_assert_uint_eq(kept.launches, 6);
    ck_assert_uint_lt(cancelled.cycles, kept.cycles);
}
END_TEST

START_TEST(readers_share)
{
    const plan p = {
        3, {0, 0, 0}, {true, true, true}, {true, true, true}, {false}};

    /* The input is converted once for three, each output once. */
    ck_assert_uint_eq(compare(&p), 4);
    ck_assert_uint_eq(kept.launches, 9);
}
END_TEST

START_TEST(what_both_orders_read)
{
    const plan p = {
        3, {0, 1, 1}, {true, true, false}, {false, true, true}, {false}};

    /* In; the first result stays converted for the plain one; out. */
    ck_assert_uint_eq(compare(&p), 3);
}
END_TEST

START_TEST(an_output_that_is_read)
{
    const plan p = {2, {0, 1}, {true, true}, {true, true}, {false}};

    ck_assert_uint_eq(compare(&p), 3);
}
END_TEST

START_TEST(nothing_to_cancel)
{
    const plan p = {
        3, {0, 1, 2}, {false, false, false}, {false, false, true}, {false}};

    ck_assert_uint_eq(compare(&p), 0);
    ck_assert_uint_eq(kept.launches, 3);
}
END_TEST

START_TEST(what_the_host_reads_too)
{
    const plan p = {3,
                    {0, 1, 1},
                    {true, true, true},
                    {false, true, true},
                    {false, true, false}};

    /* In; the first result is converted back for the host alone; what the host
     * makes, and both outputs. */
    ck_assert_uint_eq(compare(&p), 5);
}
END_TEST

/* --- constants ------------------------------------------------------------ */

/* Two layers that want a constant's channels innermost, and one that does not.
 */
typedef struct {
    vpu_context *context;
    vpu_graph *graph;
    uint16_t given[N];
} with_constant;

static void open_with_constant(with_constant *w, bool keep)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_tensor_options t = VPU_TENSOR_OPTIONS_INIT;
    vpu_tensor *c;

    for (int i = 0; i < N; i++) {
        __extension__ _Float16 h = (_Float16)((float)i / 7 - 9);

        memcpy(&w->given[i], &h, 2);
    }
    o.keep_conversions = keep;
    api_ok(vpu_context_create(&w->context, &o, &api_err));
    api_ok(vpu_graph_create(&w->graph, w->context, &api_err));
    t.role = VPU_ROLE_CONSTANT;
    t.shape = "1x5x6x8:f16";
    t.data = w->given;
    api_ok(vpu_graph_tensor(w->graph, &t, &c, &api_err));
    for (int i = 0; i < 3; i++)
        add(w->graph, c, i < 2, true, i);
    api_ok(vpu_graph_finalize(w->graph, &api_err));
}

/* What plain C makes of it; launches of the run. */
static size_t run_with_constant(const with_constant *w)
{
    vpu_result *r;
    size_t launches;

    api_ok(vpu_graph_run(w->graph, NULL, &r, &api_err));
    for (int k = 0; k < 3; k++) {
        uint16_t out[N];

        api_ok(vpu_tensor_read(
            vpu_graph_tensor_at(w->graph, VPU_ROLE_OUTPUT, (size_t)k), out,
            sizeof out, &api_err));
        for (int i = 0; i < N; i++) {
            __extension__ _Float16 x, y, half = (_Float16)0.5f;

            memcpy(&x, &w->given[i], 2);
            y = (_Float16)((float)x * (float)half);
            y = (_Float16)((float)y + (float)(i / (H * W) * (k + 1)));
            ck_assert_mem_eq(&out[i], &y, 2);
        }
    }
    launches = vpu_result_launch_count(r);
    vpu_result_free(r);
    return launches;
}

static void close_with_constant(const with_constant *w)
{
    vpu_graph_free(w->graph);
    vpu_context_free(w->context);
}

START_TEST(constants_are_converted_once_for_all_layers_and_runs)
{
    with_constant w;

    open_with_constant(&w, false);
    /* Three layers, and two outputs back: the constant takes no launch. */
    for (int again = 0; again < 3; again++)
        ck_assert_uint_eq(run_with_constant(&w), 5);
    close_with_constant(&w);
    open_with_constant(&w, true);
    for (int again = 0; again < 3; again++)
        ck_assert_uint_eq(run_with_constant(&w), 7);
    close_with_constant(&w);
}
END_TEST

START_TEST(converted_constants_are_in_the_file)
{
    const char *path = file_join(mem, dir, "graph");
    with_constant w;

    open_with_constant(&w, false);
    api_ok(vpu_graph_save(w.graph, path, NULL, &api_err));
    vpu_graph_free(w.graph);
    api_ok(vpu_graph_load(&w.graph, w.context, path, &api_err));
    api_ok(vpu_graph_finalize(w.graph, &api_err));
    ck_assert_uint_eq(run_with_constant(&w), 5);
    close_with_constant(&w);
}
END_TEST

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

START_TEST(random_graphs)
{
    uint64_t seed = (uint64_t)_i;
    plan p = {.n = 2 + (int)(next(&seed) % (MOST - 2))};

    for (int i = 0; i < p.n; i++) {
        p.from[i] = (int)(next(&seed) % (uint64_t)(i + 1));
        p.minor[i] = next(&seed) % 3;
        p.output[i] = true;
    }
    for (int i = 0; i < p.n; i++) /* most of what is read is no output */
        if (p.from[i] && next(&seed) % 4)
            p.output[p.from[i] - 1] = false;
    compare(&p);
    for (int i = 0; i < p.n; i++)
        p.host[i] = next(&seed) % 3 == 0;
    compare(&p);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("conversions");
    Suite *suite = suite_create("library: conversions between layers");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_row_of_two);
    tcase_add_test(t, readers_share);
    tcase_add_test(t, what_both_orders_read);
    tcase_add_test(t, an_output_that_is_read);
    tcase_add_test(t, nothing_to_cancel);
    tcase_add_test(t, what_the_host_reads_too);
    tcase_add_test(t, constants_are_converted_once_for_all_layers_and_runs);
    tcase_add_test(t, converted_constants_are_in_the_file);
    tcase_add_loop_test(t, random_graphs, 0, 12);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
