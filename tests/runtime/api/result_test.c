/* Results, timelines, findings and comparisons, and that they outlive what they
 * are of. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

enum { N = 4096 };

static vpu_context *sim;
static arena *mem;
static char *dir;

static void setup(void)
{
    sim = api_context(NULL);
    mem = arena_create(0);
    dir = program_temp_dir(mem);
}

static void teardown(void)
{
    vpu_context_free(sim);
    program_remove_dir(dir);
    arena_destroy(mem);
}

static void open_ready(api_scaling *s, vpu_context *c)
{
    api_scaling_open(s, c, N, 2);
    api_ok(vpu_graph_finalize(s->graph, &api_err));
    api_ok(vpu_tensor_fill(s->x, "ramp", &api_err));
}

/* --- counters and reports ------------------------------------------------- */

/* Numbers and booleans of a JSON value, counted and looked up by a way of its
 * own. */
static size_t count_numbers(const json_t *j, const char *path, vpu_result *r)
{
    size_t n = 0, i;
    const char *key;
    json_t *member;

    if (json_is_number(j) || json_is_boolean(j)) {
        double v;

        api_ok(vpu_result_counter(r, path + 1, &v, &api_err));
        ck_assert_double_eq(v, json_is_boolean(j) ? json_is_true(j)
                                                  : json_number_value(j));
        return 1;
    }
    json_object_foreach((json_t *)(uintptr_t)j, key, member) n +=
        count_numbers(member, arena_printf(mem, "%s.%s", path, key), r);
    json_array_foreach((json_t *)(uintptr_t)j, i, member) n +=
        count_numbers(member, arena_printf(mem, "%s.%zu", path, i), r);
    return n;
}

START_TEST(counters_are_the_numbers_of_the_report)
{
    api_scaling s;
    vpu_result *r;
    json_t *tree;
    size_t n = 0;
    double v;

    open_ready(&s, sim);
    api_ok(vpu_graph_run(s.graph, NULL, &r, &api_err));
    tree = json_loads(vpu_result_json(r), 0, NULL);
    ck_assert_ptr_nonnull(tree);
    while (vpu_result_counter_name(r, n))
        n++;
    ck_assert_uint_eq(n, count_numbers(tree, "", r));
    ck_assert_uint_gt(n, 20);
    api_ok(vpu_result_counter(r, "cycles", &v, &api_err));
    ck_assert_double_eq(v, (double)vpu_result_cycles(r));
    api_fails(vpu_result_counter(r, "stages", &v, &api_err), VPU_ERR_INVALID,
              "a list there");
    api_fails(vpu_result_counter(r, "layer", &v, &api_err), VPU_ERR_INVALID,
              "a text there");
    api_fails(vpu_result_counter(r, "stages.7.cycles", &v, &api_err),
              VPU_ERR_INVALID, "nothing there");
    ck_assert_ptr_nonnull(strstr(vpu_result_text(r), "kernel scale"));
    json_decref(tree);
    vpu_result_free(r);
    api_scaling_close(&s);
}
END_TEST

START_TEST(launches_add_up)
{
    api_scaling s;
    vpu_result *r;
    uint64_t cycles = 0;
    double seconds = 0;

    open_ready(&s, sim);
    api_ok(vpu_graph_run(s.graph, NULL, &r, &api_err));
    ck_assert_uint_eq(vpu_result_launch_count(r), 1);
    ck_assert_str_eq(vpu_result_launch_name(r, 0), "scale");
    for (size_t i = 0; i < vpu_result_launch_count(r); i++) {
        cycles += vpu_result_launch_cycles(r, i);
        seconds += vpu_result_launch_seconds(r, i);
    }
    ck_assert_uint_eq(cycles, vpu_result_cycles(r));
    ck_assert_double_eq(seconds, vpu_result_seconds(r));
    ck_assert_ptr_null(vpu_result_launch_name(r, 1));
    ck_assert_uint_eq(vpu_result_launch_cycles(r, 1), 0);
    ck_assert_double_eq(vpu_result_launch_seconds(r, 1), 0);
    vpu_result_free(r);
    api_scaling_close(&s);
}
END_TEST

/* All but seconds of the host. */
static void same_counters(vpu_result *p, vpu_result *q)
{
    const char *name;

    for (size_t i = 0; (name = vpu_result_counter_name(p, i)); i++) {
        double v, w;

        ck_assert_str_eq(name, vpu_result_counter_name(q, i));
        if (strstr(name, "host_"))
            continue;
        api_ok(vpu_result_counter(p, name, &v, &api_err));
        api_ok(vpu_result_counter(q, name, &w, &api_err));
        ck_assert_msg(v == w, "%s: %g and %g", name, v, w);
    }
}

/* A result tells of its own run, whatever happens to the graph afterwards. */
START_TEST(results_outlive_their_graph)
{
    api_scaling s;
    vpu_result *first, *second, *after;

    open_ready(&s, sim);
    api_ok(vpu_graph_run(s.graph, NULL, &first, &api_err));
    api_ok(vpu_graph_run(s.graph, NULL, &second, &api_err));
    same_counters(first, second);
    api_ok(vpu_graph_run(s.graph, NULL, &after, &api_err));
    api_scaling_close(&s);
    vpu_context_free(sim);
    same_counters(first, after);
    vpu_result_free(second);
    vpu_result_free(after);
    vpu_result_free(first);
    sim = NULL;
}
END_TEST

START_TEST(profiles_count_lines)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_run_options run = VPU_RUN_OPTIONS_INIT;
    vpu_context *c;
    api_scaling s;
    vpu_result *r;

    run.profile = 1;
    open_ready(&s, sim);
    api_fails(vpu_graph_run(s.graph, &run, &r, &api_err), VPU_ERR_INVALID,
              "interpreter");
    ck_assert_ptr_null(r);
    api_scaling_close(&s);
    o.engine = VPU_ENGINE_INTERPRETED;
    api_ok(vpu_context_create(&c, &o, &api_err));
    open_ready(&s, c);
    api_ok(vpu_graph_run(s.graph, &run, &r, &api_err));
    ck_assert_ptr_nonnull(strstr(vpu_result_json(r), "\"profile\""));
    ck_assert_ptr_nonnull(strstr(vpu_result_text(r), "source.cl:5"));
    vpu_result_free(r);
    api_ok(vpu_graph_run(s.graph, NULL, &r, &api_err)); /* and without */
    ck_assert_ptr_null(strstr(vpu_result_json(r), "\"profile\""));
    vpu_result_free(r);
    api_scaling_close(&s);
    vpu_context_free(c);
}
END_TEST

/* --- timelines ------------------------------------------------------------ */

START_TEST(timelines_and_their_pictures)
{
    vpu_run_options run = VPU_RUN_OPTIONS_INIT;
    vpu_picture_options o = VPU_PICTURE_OPTIONS_INIT;
    char *trace = file_join(mem, dir, "t.pftrace");
    char *json = file_join(mem, dir, "t.json");
    char *vcd = file_join(mem, dir, "t.vcd");
    char *png = file_join(mem, dir, "t.png");
    char *svg = file_join(mem, dir, "t.svg");
    char *large = file_join(mem, dir, "large.pftrace");
    vpu_result *plain, *traced;
    size_t n;
    api_scaling s;

    open_ready(&s, sim);
    api_ok(vpu_graph_run(s.graph, NULL, &plain, &api_err));
    run.trace = trace;
    run.trace_json = json;
    run.vcd = vcd;
    api_ok(vpu_graph_run(s.graph, &run, &traced, &api_err));
    ck_assert_uint_eq(vpu_result_cycles(plain), vpu_result_cycles(traced));
    ck_assert(file_exists(trace) && file_exists(json) && file_exists(vcd));
    o.png = png;
    o.svg = svg;
    o.width = 800;
    api_ok(vpu_picture_write(trace, &o, &api_err));
    ck_assert_mem_eq(program_file(mem, dir, "t.png", &n), "\x89PNG", 4);
    ck_assert_ptr_nonnull(strstr(program_file(mem, dir, "t.svg", &n), "<svg"));
    o.png = o.svg = NULL;
    api_fails(vpu_picture_write(trace, &o, &api_err), VPU_ERR_INVALID,
              "neither png nor svg");
    o.png = png;
    api_fails(vpu_picture_write("/nowhere", &o, &api_err), VPU_ERR_IO,
              "/nowhere");
    api_fails(vpu_picture_write(png, &o, &api_err), VPU_ERR_PARSE, "t.png");
    /* A packet of 2 MiB, as its head says. */
    ck_assert(!file_write(large, "\x0a\x80\x80\x80\x01", 5, NULL));
    api_fails(vpu_picture_write(large, &o, &api_err), VPU_ERR_LIMIT,
              "a packet of 2097152 bytes");
    o.width = 20000;
    api_fails(vpu_picture_write(trace, &o, &api_err), VPU_ERR_INVALID, "16384");
    run.trace = file_join(mem, dir, "none/t.pftrace");
    api_fails(vpu_graph_run(s.graph, &run, NULL, &api_err), VPU_ERR_IO,
              "none/t.pftrace");
    vpu_result_free(plain);
    vpu_result_free(traced);
    api_scaling_close(&s);
}
END_TEST

START_TEST(backends_without_timelines_say_so)
{
    vpu_run_options run = VPU_RUN_OPTIONS_INIT;
    vpu_context *c = api_context("null");
    vpu_findings *f;
    api_scaling s;

    open_ready(&s, c);
    api_ok(vpu_graph_run(s.graph, NULL, NULL, &api_err));
    run.trace = file_join(mem, dir, "t.pftrace");
    api_fails(vpu_graph_run(s.graph, &run, NULL, &api_err), VPU_ERR_UNSUPPORTED,
              "null");
    run.trace = NULL;
    run.profile = 1;
    api_fails(vpu_graph_run(s.graph, &run, NULL, &api_err), VPU_ERR_UNSUPPORTED,
              "null");
    api_fails(vpu_graph_check(&f, s.graph, NULL, &api_err), VPU_ERR_UNSUPPORTED,
              "checkers");
    api_scaling_close(&s);
    vpu_context_free(c);
}
END_TEST

/* --- checkers ------------------------------------------------------------- */

static const char careless[] =
    "__kernel void careless(__global const float *x, __global float *y)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    if (i != 5)\n"
    "        y[i] = x[i + 1];\n"
    "}\n";

START_TEST(findings_are_told)
{
    static const char *const members[] = {"\"findings\"", "careless"};
    vpu_check_options o = VPU_CHECK_OPTIONS_INIT;
    vpu_program *p = api_program(sim, careless);
    const vpu_kernel *k;
    vpu_launch_options l = VPU_LAUNCH_OPTIONS_INIT;
    vpu_operation *op;
    vpu_findings *f;
    vpu_graph *g;
    vpu_tensor *x, *y;
    bool bounds = false, unwritten = false;

    api_ok(vpu_program_kernel(p, NULL, &k, &api_err));
    api_ok(vpu_graph_create(&g, sim, &api_err));
    x = api_tensor(g, "x", VPU_ROLE_INPUT, VPU_F32, 64);
    y = api_tensor(g, "y", VPU_ROLE_OUTPUT, VPU_F32, 64);
    l.global[0] = 64;
    api_ok(vpu_graph_add_kernel(g, k, &l, &op, &api_err));
    api_ok(vpu_operation_set_tensor(op, "x", x, &api_err));
    api_ok(vpu_operation_set_tensor(op, "y", y, &api_err));
    api_fails(vpu_graph_check(&f, g, NULL, &api_err), VPU_ERR_INVALID,
              "never written");
    api_ok(vpu_tensor_fill(x, "ramp", &api_err));
    api_ok(vpu_graph_check(&f, g, NULL, &api_err));
    for (size_t i = 0; i < vpu_findings_count(f); i++) {
        bounds |= !strcmp(vpu_findings_checker(f, i), "bounds") &&
                  vpu_findings_line(f, i) == 5 &&
                  !strcmp(vpu_findings_file(f, i), "source.cl") &&
                  !strcmp(vpu_findings_kernel(f, i), "careless") &&
                  vpu_findings_times(f, i) == 1 &&
                  !vpu_findings_is_note(f, i) &&
                  strstr(vpu_findings_text(f, i), "x");
        unwritten |= !strcmp(vpu_findings_checker(f, i), "unwritten");
    }
    ck_assert(bounds && unwritten);
    ck_assert_uint_ge(vpu_findings_error_count(f), 1);
    ck_assert_uint_le(vpu_findings_error_count(f), vpu_findings_count(f));
    ck_assert_ptr_null(vpu_findings_text(f, vpu_findings_count(f)));
    for (size_t i = 0; i < 2; i++)
        ck_assert_ptr_nonnull(strstr(vpu_findings_json(f), members[i]));
    ck_assert_ptr_nonnull(strstr(vpu_findings_sarif(f), "2.1.0"));
    ck_assert_ptr_nonnull(strstr(vpu_findings_report(f), "source.cl:5"));
    vpu_findings_free(f);
    o.checks = "divide";
    api_ok(vpu_graph_check(&f, g, &o, &api_err));
    ck_assert_uint_eq(vpu_findings_count(f), 0);
    vpu_findings_free(f);
    o.checks = "spelling";
    api_fails(vpu_graph_check(&f, g, &o, &api_err), VPU_ERR_INVALID,
              "spelling");
    vpu_graph_free(g);
    vpu_program_free(p);
}
END_TEST

/* --- comparisons ---------------------------------------------------------- */

START_TEST(simulator_and_opencl_agree)
{
    vpu_context *opencl = api_context("opencl");
    api_scaling a, b;
    vpu_diff *d;

    api_scaling_open(&a, sim, N, 2);
    api_scaling_open(&b, opencl, N, 2);
    api_fails(vpu_diff_create(&d, a.graph, b.graph, NULL, &api_err),
              VPU_ERR_INVALID, "never written");
    api_ok(vpu_tensor_fill(a.x, "random:3", &api_err));
    api_ok(vpu_diff_create(&d, a.graph, b.graph, NULL, &api_err));
    ck_assert_uint_eq(vpu_diff_equal(d), 1);
    ck_assert_uint_eq(vpu_diff_count(d), 0);
    ck_assert_ptr_nonnull(vpu_diff_summary(d));
    vpu_diff_free(d);
    api_scaling_close(&a);
    api_scaling_close(&b);
    vpu_context_free(opencl);
}
END_TEST

START_TEST(differences_are_found)
{
    static const char *const loose[] = {"exact", "y=rel=0.6"};
    static const char *const wrong[] = {"close"};
    vpu_diff_options o = VPU_DIFF_OPTIONS_INIT;
    char *png = file_join(mem, dir, "heat.png");
    api_scaling a, b;
    vpu_diff *d;
    vpu_graph *other;

    api_scaling_open(&a, sim, N, 2);
    api_scaling_open(&b, sim, N, 3);
    api_ok(vpu_tensor_fill(a.x, "ramp", &api_err));
    o.heat_map = png;
    api_ok(vpu_diff_create(&d, a.graph, b.graph, &o, &api_err));
    ck_assert_uint_eq(vpu_diff_equal(d), 0);
    /* Of every 256 the first is 0. */
    ck_assert_uint_eq(vpu_diff_count(d), N - N / 256);
    ck_assert_ptr_nonnull(strstr(vpu_diff_text(d), "y"));
    ck_assert_ptr_nonnull(strstr(vpu_diff_json(d), "\"equal\""));
    ck_assert_ptr_nonnull(strstr(vpu_diff_junit(d), "failures=\"1\""));
    ck_assert(file_exists(png));
    vpu_diff_free(d);
    o.heat_map = NULL;
    o.outputs_only = 1;
    o.tolerances = loose;
    o.n_tolerances = 2;
    api_ok(vpu_diff_create(&d, a.graph, b.graph, &o, &api_err));
    ck_assert_uint_eq(vpu_diff_equal(d), 1);
    vpu_diff_free(d);
    o.tolerances = wrong;
    o.n_tolerances = 1;
    api_fails(vpu_diff_create(&d, a.graph, b.graph, &o, &api_err),
              VPU_ERR_INVALID, "close");
    ck_assert_ptr_null(d);
    api_scaling_close(&b);
    api_scaling_open(&b, sim, N / 2, 3);
    api_fails(vpu_diff_create(&d, a.graph, b.graph, NULL, &api_err),
              VPU_ERR_MISMATCH, "x");
    api_ok(vpu_graph_create(&other, sim, &api_err));
    api_fails(vpu_diff_create(&d, a.graph, other, NULL, &api_err),
              VPU_ERR_INVALID, "no operation");
    vpu_graph_free(other);
    api_scaling_close(&a);
    api_scaling_close(&b);
}
END_TEST

START_TEST(agreement_in_detail)
{
    const char *loose = "rel=0.01";
    vpu_diff_options o = VPU_DIFF_OPTIONS_INIT;
    api_scaling a, b;
    vpu_diff *brief, *full;

    api_scaling_open(&a, sim, N, 2);
    api_scaling_open(&b, sim, N, 2.001);
    api_ok(vpu_tensor_fill(a.x, "ramp", &api_err));
    o.no_groups = 1;
    o.tolerances = &loose;
    o.n_tolerances = 1;
    api_ok(vpu_diff_create(&brief, a.graph, b.graph, &o, &api_err));
    o.verbose = 1;
    api_ok(vpu_diff_create(&full, a.graph, b.graph, &o, &api_err));
    ck_assert_uint_lt(strlen(vpu_diff_text(brief)),
                      strlen(vpu_diff_text(full)));
    ck_assert_ptr_nonnull(strstr(vpu_diff_junit(full), "failures=\"0\""));
    vpu_diff_free(brief);
    vpu_diff_free(full);
    api_scaling_close(&a);
    api_scaling_close(&b);
}
END_TEST

START_TEST(cycles_are_compared)
{
    vpu_diff_options o = VPU_DIFF_OPTIONS_INIT;
    vpu_context *null = api_context("null");
    api_scaling a, b;
    vpu_diff *d;

    api_scaling_open(&a, sim, N, 2);
    api_scaling_open(&b, sim, N, 2);
    api_ok(vpu_tensor_fill(a.x, "ramp", &api_err));
    o.max_slowdown = 1;
    api_ok(vpu_diff_create(&d, a.graph, b.graph, &o, &api_err));
    ck_assert_uint_eq(vpu_diff_too_slow(d), 0);
    vpu_diff_free(d);
    o.max_slowdown = 0.5;
    api_ok(vpu_diff_create(&d, a.graph, b.graph, &o, &api_err));
    ck_assert_uint_eq(vpu_diff_too_slow(d), 1);
    ck_assert_uint_eq(vpu_diff_equal(d), 1);
    vpu_diff_free(d);
    api_scaling_close(&b);
    api_scaling_open(&b, null, N, 2);
    o.max_slowdown = 0;
    o.cycle_budget = 1000000000;
    api_ok(vpu_diff_create(&d, a.graph, b.graph, &o, &api_err));
    ck_assert_uint_eq(vpu_diff_too_slow(d), 0);
    vpu_diff_free(d);
    o.cycle_budget = 1;
    api_ok(vpu_diff_create(&d, a.graph, b.graph, &o, &api_err));
    ck_assert_uint_eq(vpu_diff_too_slow(d), 1);
    vpu_diff_free(d);
    api_ok(vpu_tensor_fill(b.x, "ramp", &api_err));
    api_fails(vpu_diff_create(&d, b.graph, a.graph, &o, &api_err),
              VPU_ERR_UNSUPPORTED, "a budget of 1 cycles, but a (null)");
    o.cycle_budget = 0;
    o.max_slowdown = 0.5;
    api_fails(vpu_diff_create(&d, a.graph, b.graph, &o, &api_err),
              VPU_ERR_UNSUPPORTED, "counts none");
    o.slowdown_if_known = 1;
    api_ok(vpu_diff_create(&d, a.graph, b.graph, &o, &api_err));
    ck_assert_uint_eq(vpu_diff_too_slow(d), 0);
    vpu_diff_free(d);
    o.max_slowdown = -1;
    api_fails(vpu_diff_create(&d, a.graph, b.graph, &o, &api_err),
              VPU_ERR_INVALID, "max_slowdown");
    api_scaling_close(&a);
    api_scaling_close(&b);
    vpu_context_free(null);
}
END_TEST

START_TEST(tolerances_are_looked_at)
{
    api_ok(vpu_diff_check_tolerance("ulp=2,abs=1e-3", &api_err));
    api_ok(vpu_diff_check_tolerance("out0=exact", &api_err));
    api_fails(vpu_diff_check_tolerance("ulp=few", &api_err), VPU_ERR_INVALID,
              "few");
    api_fails(vpu_diff_check_tolerance(NULL, &api_err), VPU_ERR_INVALID,
              "text");
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("results");
    Suite *suite = suite_create("library: results, findings, comparisons");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, counters_are_the_numbers_of_the_report);
    tcase_add_test(t, launches_add_up);
    tcase_add_test(t, results_outlive_their_graph);
    tcase_add_test(t, profiles_count_lines);
    tcase_add_test(t, timelines_and_their_pictures);
    tcase_add_test(t, backends_without_timelines_say_so);
    tcase_add_test(t, findings_are_told);
    tcase_add_test(t, simulator_and_opencl_agree);
    tcase_add_test(t, differences_are_found);
    tcase_add_test(t, agreement_in_detail);
    tcase_add_test(t, cycles_are_compared);
    tcase_add_test(t, tolerances_are_looked_at);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
