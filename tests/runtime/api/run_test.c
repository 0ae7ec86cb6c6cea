/* Runs with all their options: files, repetitions, callbacks, a graph that is
 * finalized on the way. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "runtime/graph/npy.h"
#include "tests/kernels/program.h"
#include "tests/runtime/api/api.h"

enum { N = 64 };

static arena *mem;
static char *dir;
static vpu_context *sim, *interpreted;
static str notes, hints;

static void on_log(void *user, vpu_log_level level, const char *text)
{
    (void)user;
    str_printf(level == VPU_LOG_HINT ? &hints : &notes, "%s\n", text);
}

static vpu_context *context(vpu_engine engine, const char *tuned)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_context *c;

    o.engine = engine;
    o.tuned = tuned;
    o.log = on_log;
    api_ok(vpu_context_create(&c, &o, &api_err));
    return c;
}

static void setup(void)
{
    mem = arena_create(0);
    dir = program_temp_dir(mem);
    sim = context(VPU_ENGINE_COMPILED, NULL);
    interpreted = context(VPU_ENGINE_INTERPRETED, NULL);
}

static void teardown(void)
{
    vpu_context_free(sim);
    vpu_context_free(interpreted);
    str_free(&notes);
    str_free(&hints);
    program_remove_dir(dir);
    arena_destroy(mem);
}

/* --- on the way ----------------------------------------------------------- */

typedef struct {
    const char *file; /* is there when `opened` is called */
    int opened, filled, fail_at;
} calls;

static vpu_status on_opened(void *user, vpu_graph *g, vpu_error *err)
{
    calls *c = user;

    (void)err;
    ck_assert_ptr_null(vpu_graph_memory_text(g)); /* not finalized yet */
    c->opened++;
    return VPU_OK;
}

static vpu_status on_fill(void *user, vpu_graph *g, vpu_error *err)
{
    calls *c = user;
    vpu_tensor *x = vpu_graph_tensor_at(g, VPU_ROLE_INPUT, 0);

    ck_assert_ptr_nonnull(vpu_graph_memory_text(g));
    if (++c->filled == c->fail_at)
        return vpu_tensor_fill(x, "rump", err);
    return vpu_tensor_fill(x, "ramp", err);
}

START_TEST(a_graph_is_finalized_on_the_way)
{
    vpu_run_options o = VPU_RUN_OPTIONS_INIT;
    calls c = {0};
    float y[N];
    api_scaling s;
    vpu_result *r;

    o.opened = on_opened;
    o.fill = on_fill;
    o.user = &c;
    api_scaling_open(&s, sim, N, 2);
    api_fails(vpu_graph_run(s.graph, &o, NULL, &api_err), VPU_ERR_INVALID,
              "not finalized");
    ck_assert_int_eq(c.opened + c.filled, 0);
    o.finalize = 1;
    o.repeat = 3;
    api_ok(vpu_graph_run(s.graph, &o, &r, &api_err));
    ck_assert_int_eq(c.opened, 1);
    ck_assert_int_eq(c.filled, 3);
    api_ok(vpu_tensor_read(s.y, y, sizeof y, &api_err));
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(y[i], (float)i / 128);
    ck_assert_uint_eq(vpu_result_repetitions(r), 3);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_double_gt(vpu_result_repetition_seconds(r, i), 0);
    ck_assert_double_eq(vpu_result_repetition_seconds(r, 3), 0);
    ck_assert_double_eq(vpu_result_repetition_seconds(r, 2),
                        vpu_result_seconds(r));
    vpu_result_free(r);
    /* It is open now. */
    api_ok(vpu_graph_run(s.graph, NULL, NULL, &api_err));
    o.repeat = VPU_MAX_REPEAT + 1;
    api_fails(vpu_graph_run(s.graph, &o, NULL, &api_err), VPU_ERR_INVALID,
              "repeat");
    o.repeat = 0;
    o.trace_level = VPU_TRACE_FULL + 1;
    api_fails(vpu_graph_run(s.graph, &o, NULL, &api_err), VPU_ERR_INVALID,
              "trace_level");
    api_scaling_close(&s);
}
END_TEST

/* The longest chain of a run in a report; NULL: it tells none. */
static char *path_of(vpu_graph *g, uint32_t repeat, uint32_t advise)
{
    vpu_run_options o = VPU_RUN_OPTIONS_INIT;
    const char *path, *end;
    vpu_result *r;
    char *found = NULL;

    o.repeat = repeat;
    o.advise = advise;
    api_ok(vpu_graph_run(g, &o, &r, &api_err));
    path = strstr(vpu_result_json(r), "\"critical_path\"");
    end = path ? strstr(path, "\"slack\"") : NULL;
    if (end)
        found = arena_strndup(mem, path, (size_t)(end - path));
    vpu_result_free(r);
    return found;
}

START_TEST(advice_is_of_the_last_repetition)
{
    api_scaling s;
    const char *once, *thrice;

    api_scaling_open(&s, sim, N, 2);
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    ck_assert_ptr_null(path_of(s.graph, 1, 0));
    once = path_of(s.graph, 1, 1);
    thrice = path_of(s.graph, 3, 1);
    ck_assert_ptr_nonnull(once);
    ck_assert_ptr_nonnull(thrice);
    ck_assert_str_eq(once, thrice);
    ck_assert_ptr_null(path_of(s.graph, 2, 0));
    api_scaling_close(&s);
}
END_TEST

START_TEST(errors_of_callbacks_are_the_runs)
{
    vpu_run_options o = VPU_RUN_OPTIONS_INIT;
    calls c = {.fail_at = 2};
    api_scaling s;

    o.fill = on_fill;
    o.user = &c;
    o.finalize = 1;
    o.repeat = 3;
    o.trace = file_join(mem, dir, "t.pftrace");
    api_scaling_open(&s, sim, N, 2);
    api_fails(vpu_graph_run(s.graph, &o, NULL, &api_err), VPU_ERR_INVALID,
              "rump");
    ck_assert_int_eq(c.filled, 2);
    ck_assert(!file_exists(o.trace));
    api_scaling_close(&s);
    /* Files come before everything else. */
    c = (calls){0};
    o.opened = on_opened;
    o.folded = NULL;
    o.trace = file_join(mem, dir, "none/t.pftrace");
    api_scaling_open(&s, sim, N, 2);
    api_fails(vpu_graph_run(s.graph, &o, NULL, &api_err), VPU_ERR_IO,
              "none/t.pftrace");
    ck_assert_int_eq(c.opened + c.filled, 0);
    o.trace = NULL;
    api_ok(vpu_graph_run(s.graph, &o, NULL, &api_err));
    api_scaling_close(&s);
}
END_TEST

/* What could not be opened is not open. */
START_TEST(a_graph_that_cannot_be_opened)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_run_options run = VPU_RUN_OPTIONS_INIT;
    vpu_context *c;
    api_scaling s;

    o.backend = "sim:x";
    run.finalize = 1;
    api_ok(vpu_context_create(&c, &o, &api_err));
    api_scaling_open(&s, c, N, 2);
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    for (int i = 0; i < 2; i++) {
        api_fails(vpu_graph_finalize(s.graph, &api_err), VPU_ERR_INVALID,
                  "no device 'x'");
        api_fails(vpu_graph_run(s.graph, &run, NULL, &api_err), VPU_ERR_INVALID,
                  "no device 'x'");
    }
    api_fails(vpu_graph_run(s.graph, NULL, NULL, &api_err), VPU_ERR_INVALID,
              "not finalized");
    ck_assert_ptr_null(vpu_tensor_data(s.y));
    api_scaling_close(&s);
    vpu_context_free(c);
}
END_TEST

/* --- files ---------------------------------------------------------------- */

START_TEST(outputs_and_the_report_in_a_folder)
{
    vpu_run_options o = VPU_RUN_OPTIONS_INIT;
    char *out = file_join(mem, dir, "deep/out");
    api_scaling s;
    vpu_result *r;
    tensor saved;
    float y[N];
    size_t n;

    api_scaling_open(&s, sim, N, 3);
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    o.output = out;
    o.finalize = 1;
    api_ok(vpu_graph_run(s.graph, &o, &r, &api_err));
    ck_assert_str_eq(program_file(mem, out, "report.json", &n),
                     vpu_result_json(r));
    api_ok(npy_read(file_join(mem, out, "y.npy"), mem, &saved, &api_err));
    api_ok(vpu_tensor_read(s.y, y, sizeof y, &api_err));
    ck_assert_mem_eq(saved.data, y, sizeof y);
    vpu_result_free(r);
    api_scaling_close(&s);
}
END_TEST

START_TEST(stacks_and_pipelines)
{
    vpu_run_options o = VPU_RUN_OPTIONS_INIT;
    api_scaling s;
    vpu_result *r;
    size_t n;

    o.finalize = 1;
    o.folded = file_join(mem, dir, "folded");
    api_scaling_open(&s, sim, N, 3);
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    api_fails(vpu_graph_run(s.graph, &o, NULL, &api_err), VPU_ERR_INVALID,
              "folded needs the interpreter");
    api_scaling_close(&s);
    api_scaling_open(&s, interpreted, N, 3);
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    o.kanata = file_join(mem, dir, "kanata");
    o.kanata_group = 1000;
    api_fails(vpu_graph_run(s.graph, &o, NULL, &api_err), VPU_ERR_INVALID,
              "kanata_group 1000");
    ck_assert(!file_exists(o.folded) && !file_exists(o.kanata));
    o.kanata_group = 0;
    o.kanata_bundles = 2;
    o.profile = 1;
    api_ok(vpu_graph_run(s.graph, &o, &r, &api_err));
    ck_assert_ptr_nonnull(
        strstr(program_file(mem, dir, "folded", &n), "source.cl:"));
    ck_assert_int_eq(
        strncmp(program_file(mem, dir, "kanata", &n), "Kanata\t0004", 11), 0);
    vpu_result_free(r);
    api_scaling_close(&s);
}
END_TEST

/* Without a timeline, the interpreter or the work-group: refused, and no file
 * is left. */
START_TEST(bundles_in_timelines)
{
    vpu_run_options o = VPU_RUN_OPTIONS_INIT;
    api_scaling s;
    size_t n, whole;

    o.finalize = 1;
    o.trace_bundles = 1;
    api_scaling_open(&s, interpreted, N, 3);
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    api_fails(vpu_graph_run(s.graph, &o, NULL, &api_err), VPU_ERR_INVALID,
              "trace_bundles needs a timeline");
    o.trace_json = file_join(mem, dir, "bundles.json");
    o.trace_bundles_group = 1000;
    api_fails(vpu_graph_run(s.graph, &o, NULL, &api_err), VPU_ERR_INVALID,
              "trace_bundles 1000");
    ck_assert(!file_exists(o.trace_json));
    o.trace_bundles_group = 0;
    o.repeat = 2; /* of the last run alone */
    api_ok(vpu_graph_run(s.graph, &o, NULL, &api_err));
    ck_assert_ptr_nonnull(
        strstr(program_file(mem, dir, "bundles.json", &whole), " bundles\""));
    o.kanata_bundles = 2;
    o.repeat = 0;
    api_ok(vpu_graph_run(s.graph, &o, NULL, &api_err));
    ck_assert_ptr_nonnull(strstr(program_file(mem, dir, "bundles.json", &n),
                                 "the first 2 of work-group 0"));
    ck_assert_uint_lt(n, whole);
    api_scaling_close(&s);
    api_scaling_open(&s, sim, N, 3);
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    api_fails(vpu_graph_run(s.graph, &o, NULL, &api_err), VPU_ERR_INVALID,
              "trace_bundles needs the interpreter");
    api_scaling_close(&s);
}
END_TEST

START_TEST(a_profile_may_be_short)
{
    vpu_run_options o = VPU_RUN_OPTIONS_INIT;
    vpu_add_options a = VPU_ADD_OPTIONS_INIT;
    size_t lengths[2];
    vpu_operation *op;
    vpu_tensor *x;
    vpu_graph *g;
    vpu_result *r;

    o.profile = 1;
    o.finalize = 1;
    api_ok(vpu_graph_create(&g, interpreted, &api_err));
    x = api_tensor(g, "x", VPU_ROLE_INPUT, VPU_F32, N);
    a.inputs = &x;
    a.n_inputs = 1;
    a.output_role = VPU_ROLE_OUTPUT;
    api_ok(vpu_graph_add(g, "softmax", &a, &op, &api_err)); /* some lines */
    api_ok(vpu_tensor_fill(x, "ramp", &api_err));
    for (uint32_t i = 0; i < 2; i++) {
        o.profile_lines = i;
        api_ok(vpu_graph_run(g, &o, &r, &api_err));
        lengths[i] = strlen(vpu_result_text(r));
        vpu_result_free(r);
    }
    ck_assert_uint_lt(lengths[1], lengths[0]);
    vpu_graph_free(g);
}
END_TEST

/* The size of a timeline with these options. */
static size_t traced(uint32_t level, uint32_t host, bool *has_host)
{
    vpu_run_options o = VPU_RUN_OPTIONS_INIT;
    api_scaling s;
    size_t n;

    o.trace_json = file_join(mem, dir, "t.json");
    o.trace_level = level;
    o.trace_host = host;
    o.finalize = 1;
    api_scaling_open(&s, sim, 4096, 3);
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    api_ok(vpu_graph_run(s.graph, &o, NULL, &api_err));
    api_scaling_close(&s);
    *has_host =
        strstr(program_file(mem, dir, "t.json", &n), "host work") != NULL;
    return n;
}

START_TEST(timelines_hold_what_is_asked_for)
{
    bool host;
    size_t full = traced(0, 0, &host);

    ck_assert(!host);
    ck_assert_uint_eq(traced(VPU_TRACE_FULL, 0, &host), full);
    ck_assert_uint_lt(traced(VPU_TRACE_SUMMARY, 0, &host), full);
    ck_assert_uint_lt(traced(VPU_TRACE_GROUPS, 0, &host), full);
    ck_assert(!host);
    ck_assert_uint_gt(traced(VPU_TRACE_FULL, 1, &host), full);
    ck_assert(host);
}
END_TEST

/* --- what is told --------------------------------------------------------- */

START_TEST(no_tuned_size_is_noted)
{
    char *file = file_join(mem, dir, "tuned");
    vpu_context *c = context(VPU_ENGINE_COMPILED, file);
    vpu_tune_options t = VPU_TUNE_OPTIONS_INIT;
    api_scaling s;

    api_scaling_open(&s, sim, 128, 3);
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    api_ok(vpu_tensor_fill(s.x, "ramp", &api_err));
    t.file = file;
    api_ok(vpu_graph_tune(s.graph, &t, &api_err));
    api_scaling_close(&s);
    api_scaling_open(&s, c, 128, 3);
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    ck_assert_ptr_null(strstr(str_text(&notes), "none of its sizes"));
    api_scaling_close(&s);
    api_scaling_open(&s, c, 96, 3);
    api_ok(vpu_graph_finalize(s.graph, &api_err));
    ck_assert_ptr_nonnull(strstr(str_text(&notes), "none of its sizes"));
    api_scaling_close(&s);
    vpu_context_free(c);
}
END_TEST

START_TEST(checkers_come_first)
{
    ck_assert_int_eq(vpu_checkers_check("all,-race", &api_err), VPU_OK);
    api_fails(vpu_checkers_check("spelling", &api_err), VPU_ERR_INVALID,
              "bounds");
    api_fails(vpu_checkers_check(NULL, &api_err), VPU_ERR_INVALID, "text");
}
END_TEST

START_TEST(options_are_looked_at_before_there_is_a_graph)
{
    vpu_context_options c = VPU_CONTEXT_OPTIONS_INIT;
    vpu_run_options o = VPU_RUN_OPTIONS_INIT;

    api_ok(vpu_run_options_check(NULL, NULL, &api_err));
    o.profile = 1;
    api_fails(vpu_run_options_check(&o, &c, &api_err), VPU_ERR_INVALID,
              "profile needs the interpreter");
    c.engine = VPU_ENGINE_INTERPRETED;
    api_ok(vpu_run_options_check(&o, &c, &api_err));
    o.profile = 0;
    o.vcd = "t.vcd";
    c.timing = VPU_TIMING_NONE;
    api_fails(vpu_run_options_check(&o, &c, &api_err), VPU_ERR_INVALID,
              "needs time");
    c.backend = "null";
    o.kanata = "k";
    api_fails(vpu_run_options_check(&o, &c, &api_err), VPU_ERR_UNSUPPORTED,
              "null");
    c.backend = "nil";
    api_fails(vpu_run_options_check(&o, &c, &api_err), VPU_ERR_INVALID, "nil");
    c.engine = 9;
    api_fails(vpu_run_options_check(&o, &c, &api_err), VPU_ERR_INVALID,
              "engine");
}
END_TEST

START_TEST(code_for_debuggers_has_no_time)
{
    vpu_context_options o = VPU_CONTEXT_OPTIONS_INIT;
    vpu_run_options run = VPU_RUN_OPTIONS_INIT;
    calls c = {0};
    api_scaling s;
    vpu_context *d;
    float y[N];

    o.stops = 1;
    api_fails(vpu_context_create(&d, &o, &api_err), VPU_ERR_INVALID, "stops");
    o.debugger = 1;
    api_fails(vpu_context_create(&d, &o, &api_err), VPU_ERR_INVALID, "time");
    o.timing = VPU_TIMING_NONE;
    o.break_at[0] = N;
    api_ok(vpu_context_create(&d, &o, &api_err));
    api_scaling_open(&s, d, N, 2);
    run.finalize = 1;
    run.fill = on_fill;
    run.user = &c;
    api_fails(vpu_graph_run(s.graph, &run, NULL, &api_err), VPU_ERR_INVALID,
              "break_at gid=64,0,0");
    api_fails(vpu_graph_finalize(s.graph, &api_err), VPU_ERR_INVALID,
              "break_at gid=64,0,0");
    api_scaling_close(&s);
    vpu_context_free(d);
    o.stops = 0; /* nobody is there to go on */
    api_ok(vpu_context_create(&d, &o, &api_err));
    api_scaling_open(&s, d, N, 2);
    api_ok(vpu_graph_run(s.graph, &run, NULL, &api_err));
    api_ok(vpu_tensor_read(s.y, y, sizeof y, &api_err));
    ck_assert_float_eq(y[3], 3.0F / 128);
    api_scaling_close(&s);
    vpu_context_free(d);
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("runs");
    Suite *suite = suite_create("library: runs");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, a_graph_is_finalized_on_the_way);
    tcase_add_test(t, advice_is_of_the_last_repetition);
    tcase_add_test(t, errors_of_callbacks_are_the_runs);
    tcase_add_test(t, a_graph_that_cannot_be_opened);
    tcase_add_test(t, outputs_and_the_report_in_a_folder);
    tcase_add_test(t, stacks_and_pipelines);
    tcase_add_test(t, bundles_in_timelines);
    tcase_add_test(t, a_profile_may_be_short);
    tcase_add_test(t, timelines_hold_what_is_asked_for);
    tcase_add_test(t, no_tuned_size_is_noted);
    tcase_add_test(t, checkers_come_first);
    tcase_add_test(t, options_are_looked_at_before_there_is_a_graph);
    tcase_add_test(t, code_for_debuggers_has_no_time);
    suite_add_tcase(suite, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
