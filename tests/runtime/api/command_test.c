/* What the program's commands are made of besides plain runs: options of
 * checks, parameters looked at later, hints, progress. */
#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

static arena *mem;
static char *dir;
static str hints, notes, printed;
static uint64_t most_done, most_total;

static void setup(void)
{
    mem = arena_create(0);
    dir = program_temp_dir(mem);
    most_done = most_total = 0;
}

static void teardown(void)
{
    str_free(&hints);
    str_free(&notes);
    str_free(&printed);
    program_remove_dir(dir);
    arena_destroy(mem);
}

static void on_log(void *user, vpu_log_level level, const char *text)
{
    (void)user;
    str_printf(level == VPU_LOG_HINT ? &hints : &notes, "%s\n", text);
}

static void on_print(void *user, const char *text, size_t n)
{
    (void)user;
    str_add(&printed, text, n);
}

static void on_progress(void *user, const char *of, const char *units,
                        uint64_t done, uint64_t total)
{
    (void)user;
    ck_assert_ptr_nonnull(of);
    ck_assert_str_eq(units, "work-groups");
    most_done = done > most_done ? done : most_done;
    most_total = total > most_total ? total : most_total;
}

static vpu_context *talking_context(void)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;

    o.log = on_log;
    o.print = on_print;
    o.progress = on_progress;
    o.print_prefix = 1;
    o.compile_timeout = -1;
    o.compile_memory = UINT64_MAX;
    api_ok(vpu_context_create(&c, &o, &api_err));
    return c;
}

/* A layer of one kernel with this body, and a parameter `last`. */
static const char *write_layer(const char *body)
{
    char *xml = file_join(mem, dir, "layer.xml");
    char *cl = file_join(mem, dir, "k.cl");
    const char *text =
        arena_printf(mem,
                     "__kernel void k(__global const half *x, __global half "
                     "*y, int last)\n{\n    int i = get_global_id(0);\n%s\n}\n",
                     body);
    static const char binding[] =
        "<CustomLayer name=\"L\" type=\"MVCL\" version=\"1\">\n"
        "  <Kernel entry=\"k\"><Source filename=\"k.cl\"/><Parameters>\n"
        "    <Tensor arg-name=\"x\" type=\"input\" port-index=\"0\" "
        "format=\"BFYX\"/>\n"
        "    <Tensor arg-name=\"y\" type=\"output\" port-index=\"0\" "
        "format=\"BFYX\"/>\n"
        "    <Scalar arg-name=\"last\" type=\"int\" source=\"last\"/>\n"
        "  </Parameters><WorkSizes dim=\"input,0\" global=\"X,1,1\" "
        "local=\"1,1,1\"/></Kernel>\n"
        "</CustomLayer>\n";

    ck_assert_int_eq(file_write(cl, text, strlen(text), NULL), VPU_OK);
    ck_assert_int_eq(file_write(xml, binding, strlen(binding), NULL), VPU_OK);
    return xml;
}

typedef struct {
    vpu_context *context;
    vpu_graph *graph;
    vpu_operation *layer;
} one_layer;

/* Shapes: up to two, with a blank between. */
static one_layer open_layer(const char *xml, const char *shapes,
                            const char *param, uint32_t any)
{
    one_layer l = {.context = talking_context()};
    vpu_layer_options o = VPU_LAYER_OPTIONS_INIT;
    const char *list[2] = {arena_strdup(mem, shapes), NULL};
    char *blank = strchr(list[0], ' ');

    if (blank) {
        *blank = 0;
        list[1] = blank + 1;
    }
    o.bindings = &xml;
    o.n_bindings = 1;
    o.shapes = list;
    o.n_shapes = blank ? 2 : 1;
    o.params = &param;
    o.n_params = 1;
    o.any_params = any;
    api_ok(vpu_graph_create(&l.graph, l.context, &api_err));
    api_ok(vpu_graph_add_layer(l.graph, &o, &l.layer, &api_err));
    return l;
}

static void close_layer(one_layer *l)
{
    vpu_graph_free(l->graph);
    vpu_context_free(l->context);
}

static vpu_status fill_ramp(void *user, vpu_graph *g, vpu_error *err)
{
    int *times = user;

    ++*times;
    return vpu_tensor_fill(vpu_graph_tensor_at(g, VPU_ROLE_INPUT, 0), "ramp",
                           err);
}

static vpu_status fill_badly(void *user, vpu_graph *g, vpu_error *err)
{
    (void)user;
    return vpu_tensor_fill(vpu_graph_tensor_at(g, VPU_ROLE_INPUT, 0), "rump",
                           err);
}

/* --- checkers ------------------------------------------------------------- */

static const char short_output[] = "    if (i < last) y[i] = x[i];";

START_TEST(findings_about_the_output_come_with_a_hint)
{
    const char *xml = write_layer(short_output);
    one_layer l = open_layer(xml, "in0=1x1x1x8", "last=4", 0);
    vpu_check_options o = VPU_CHECK_OPTIONS_INIT;
    vpu_findings *f;
    int times = 0;

    o.fill = fill_ramp;
    o.user = &times;
    api_ok(vpu_graph_check(&f, l.graph, &o, &api_err));
    ck_assert_int_ge(times, 1);
    ck_assert_uint_ge(vpu_findings_error_count(f), 1);
    ck_assert_double_ge(vpu_findings_seconds(f),
                        vpu_findings_launch_seconds(f));
    ck_assert_double_gt(vpu_findings_launch_seconds(f), 0);
    ck_assert_ptr_nonnull(strstr(str_text(&hints),
                                 "no shape of out0 is given: it was taken to "
                                 "be as in0, f16 1x1x1x8"));
    vpu_findings_free(f);
    close_layer(&l);
    str_free(&hints);
    /* Who says what the output is like needs no hint. */
    l = open_layer(xml, "in0=1x1x1x8 out0=1x1x1x8", "last=4", 0);
    api_ok(vpu_graph_check(&f, l.graph, &o, &api_err));
    ck_assert_uint_ge(vpu_findings_error_count(f), 1);
    ck_assert_uint_eq(hints.n, 0);
    vpu_findings_free(f);
    close_layer(&l);
}
END_TEST

START_TEST(known_findings_do_not_count)
{
    one_layer l =
        open_layer(write_layer(short_output), "in0=1x1x1x8", "last=4", 0);
    char *known = file_join(mem, dir, "known");
    vpu_check_options o = VPU_CHECK_OPTIONS_INIT;
    vpu_findings *f;
    int times = 0;

    o.fill = fill_badly;
    api_fails(vpu_graph_check(&f, l.graph, &o, &api_err), VPU_ERR_INVALID,
              "rump");
    o.fill = fill_ramp;
    o.user = &times;
    o.suppress = known;
    api_fails(vpu_graph_check(&f, l.graph, &o, &api_err), VPU_ERR_IO, known);
    ck_assert_int_eq(file_write(known, "unwritten\n", 10, NULL), VPU_OK);
    api_fails(vpu_graph_check(&f, l.graph, &o, &api_err), VPU_ERR_PARSE, known);
    ck_assert_int_eq(truncate(known, (1 << 20) + 1), 0);
    api_fails(vpu_graph_check(&f, l.graph, &o, &api_err), VPU_ERR_LIMIT, known);
    ck_assert_int_eq(file_write(known, "unwritten * *\n", 14, NULL), VPU_OK);
    api_ok(vpu_graph_check(&f, l.graph, &o, &api_err));
    ck_assert_uint_eq(vpu_findings_error_count(f), 0);
    vpu_findings_free(f);
    close_layer(&l);
}
END_TEST

START_TEST(alignment_is_an_error_if_wanted)
{
    one_layer l =
        open_layer(write_layer("    if (i == 0) *(__global half4 *)(y + last) "
                               "= *(__global const half4 *)(x + last);"),
                   "in0=1x1x1x8", "last=1", 0);
    vpu_check_options o = VPU_CHECK_OPTIONS_INIT;
    vpu_findings *f;
    int times = 0;

    o.checks = "align";
    o.fill = fill_ramp;
    o.user = &times;
    o.max_findings = UINT32_MAX;
    api_ok(vpu_graph_check(&f, l.graph, &o, &api_err));
    ck_assert_uint_ge(vpu_findings_count(f), 1);
    ck_assert_uint_eq(vpu_findings_error_count(f), 0);
    vpu_findings_free(f);
    o.strict_align = 1;
    api_ok(vpu_graph_check(&f, l.graph, &o, &api_err));
    ck_assert_uint_ge(vpu_findings_error_count(f), 1);
    vpu_findings_free(f);
    close_layer(&l);
}
END_TEST

/* "in 12 orders" with 4 random ones: of each kind so many. */
START_TEST(random_orders_are_counted)
{
    one_layer l = open_layer(write_layer("    y[i] = x[i] + (half)last;"),
                             "in0=1x1x1x8", "last=4", 0);
    vpu_check_options o = VPU_CHECK_OPTIONS_INIT;
    vpu_findings *four, *one;
    int times = 0;

    o.fill = fill_ramp;
    o.user = &times;
    o.orders = 1;
    api_ok(vpu_graph_check(&four, l.graph, &o, &api_err));
    o.random_orders = 1;
    o.seed = 7;
    api_ok(vpu_graph_check(&one, l.graph, &o, &api_err));
    ck_assert_str_ne(vpu_findings_report(four), vpu_findings_report(one));
    ck_assert_uint_eq(vpu_findings_count(one), 0);
    vpu_findings_free(four);
    vpu_findings_free(one);
    close_layer(&l);
}
END_TEST

/* --- layers --------------------------------------------------------------- */

START_TEST(parameters_are_looked_at_later)
{
    static const char *const good[] = {"last=2"};
    static const char *const bad[] = {"last=2", "lats=3"};
    const char *xml = write_layer(short_output);
    one_layer l = open_layer(xml, "in0=1x1x1x8", "last=4", 1);
    api_scaling s;

    api_ok(vpu_operation_check_params(l.layer, good, 1, &api_err));
    api_fails(vpu_operation_check_params(l.layer, bad, 2, &api_err),
              VPU_ERR_INVALID, "lats");
    api_fails(vpu_operation_check_params(l.layer, NULL, 1, &api_err),
              VPU_ERR_INVALID, "params");
    api_scaling_open(&s, l.context, 8, 2);
    api_fails(vpu_operation_check_params(s.operation, good, 1, &api_err),
              VPU_ERR_INVALID, "no layer");
    api_scaling_close(&s);
    close_layer(&l);
}
END_TEST

START_TEST(another_layer_only_if_wanted)
{
    const char *xml = write_layer(short_output);
    const char *shape = "in0=1x1x1x8", *param = "last=4";
    vpu_layer_options o = VPU_LAYER_OPTIONS_INIT;
    vpu_context *c = talking_context();
    vpu_operation *op;
    vpu_graph *g;

    o.bindings = &xml;
    o.shapes = &shape;
    o.params = &param;
    o.n_bindings = o.n_shapes = o.n_params = 1;
    o.layer = "Other";
    api_ok(vpu_graph_create(&g, c, &api_err));
    api_fails(vpu_graph_add_layer(g, &o, &op, &api_err), VPU_ERR_INVALID,
              "Other");
    o.any_layer = 1;
    o.batch_by_item = o.batch_whole = 1;
    api_fails(vpu_graph_add_layer(g, &o, &op, &api_err), VPU_ERR_INVALID,
              "batch_whole");
    o.batch_by_item = 0;
    api_ok(vpu_graph_add_layer(g, &o, &op, &api_err));
    vpu_graph_free(g);
    vpu_context_free(c);
}
END_TEST

/* --- contexts ------------------------------------------------------------- */

START_TEST(progress_and_prefixes)
{
    one_layer l = open_layer(
        write_layer("    if (i == 3) printf(\"%d\\n\", last); y[i] = x[i];"),
        "in0=1x1x1x8", "last=4", 0);
    int times = 0;

    api_ok(vpu_graph_finalize(l.graph, &api_err));
    api_ok(fill_ramp(&times, l.graph, &api_err));
    api_ok(vpu_graph_run(l.graph, NULL, NULL, &api_err));
    ck_assert_str_eq(str_text(&printed), "[group 3,0,0 item 0,0,0] 4\n");
    ck_assert_uint_eq(most_done, 8);
    ck_assert_uint_eq(most_total, 8);
    close_layer(&l);
}
END_TEST

START_TEST(a_limit_of_compiling_is_a_number)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;

    o.compile_timeout = strtod("nan", NULL);
    api_fails(vpu_context_create(&c, &o, &api_err), VPU_ERR_INVALID,
              "compile_timeout");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("commands");
    Suite *suite = suite_create("library: what commands are made of");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, findings_about_the_output_come_with_a_hint);
    tcase_add_test(t, known_findings_do_not_count);
    tcase_add_test(t, alignment_is_an_error_if_wanted);
    tcase_add_test(t, random_orders_are_counted);
    tcase_add_test(t, parameters_are_looked_at_later);
    tcase_add_test(t, another_layer_only_if_wanted);
    tcase_add_test(t, progress_and_prefixes);
    tcase_add_test(t, a_limit_of_compiling_is_a_number);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
