/* What must not change a run: running it again, the number of host threads, the
 * cache; and, for results alone, the order of the work-groups. */
#include <check.h>
#include <jansson.h>
#include <string.h>

#include "base/file.h"
#include "tests/kernels/program.h"

typedef struct {
    const char *folder, *layer;
    const char *args[12]; /* shapes and parameters */
} layer_run;

#define HALF_GRN {"--shape", "in0=2x16x37x72", "--param", "bias=1.0"}
#define FLOAT_GRN {"--shape", "in0=2x16x37x72:f32", "--param", "bias=1.0"}
static const layer_run layers[] = {
    {"grn", "GRN", HALF_GRN},
    {"grn", "GRNDma", HALF_GRN},
    {"grn", "GRNFloat", FLOAT_GRN},
    {"grn", "GRNDmaFloat", FLOAT_GRN},
    {"reorg",
     "Reorg",
     {"--shape", "in0=1x24x26x34", "--shape", "out0=1x96x13x17", "--param",
      "stride=2"}},
    {"reorg",
     "ReorgLastLine",
     {"--shape", "in0=1x24x26x34", "--shape", "out0=1x96x13x17", "--param",
      "stride=2"}},
    {"grn",
     "GRNAsyncRows",
     {"--shape", "in0=1x7x24x40", "--param", "bias=1.0", "--param", "rows=3"}},
    {"cvtf32f16",
     "CvtF32F16",
     {"--shape", "in0=1x3x40x48:f32", "--shape", "out0=1x3x40x48:f16"}},
    {"cvtf32f16",
     "CvtF32F16Store",
     {"--shape", "in0=1x3x40x41:f32", "--shape", "out0=1x3x40x41:f16"}},
    {"matmul",
     "MatMul",
     {"--shape", "in0=96x64", "--shape", "in1=64x80", "--shape", "out0=96x80"}},
    {"matmul",
     "MatMulEdgeFloat",
     {"--shape", "in0=95x61:f32", "--shape", "in1=61x77:f32", "--shape",
      "out0=95x77:f32"}},
};
enum { N_LAYERS = sizeof layers / sizeof *layers };

/* One run: its options, and whether cycles and trace must agree too. */
typedef struct {
    const char *option, *value;
    bool same_time;
} variation;

static const variation variations[] = {
    {NULL, NULL, true},
    {"--threads", "1", true},
    {"--threads", "2", true},
    {"--threads", "7", true},
    {"--no-cache", NULL, true},
    {"--order", "sequential", true},
    {"--order", "reverse", false},
    {"--order", "random:1", false},
    {"--order", "random:0xfedcba9876543210", false},
};
enum { N_VARIATIONS = sizeof variations / sizeof *variations };

typedef struct {
    char *output, *trace;
    size_t n_output, n_trace;
    json_int_t cycles;
} outcome;

static arena *a;
static char *dir;

static void setup(void)
{
    a = arena_create(0);
    dir = program_temp_dir(a);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(a);
}

static void run(const layer_run *l, const variation *v, const char *shaves,
                outcome *out)
{
    program_args p;
    json_t *report;
    size_t n;
    int status;

    program_args_init(&p, a, "run",
                      arena_printf(a, "kernels/%s/layer.xml", l->folder),
                      "--layer", l->layer, "--output", dir, "--trace",
                      file_join(a, dir, "trace"), "--input", "0=random:11",
                      "--shaves", shaves, "--report", "json", NULL);
    for (size_t i = 0; l->args[i]; i++)
        program_args_add(&p, "%s", l->args[i]);
    if (v->option)
        program_args_add(&p, "%s", v->option);
    if (v->value)
        program_args_add(&p, "%s", v->value);
    status = program_run(&p, dir);
    ck_assert_msg(status == 0, "%s: exit status %d: %s", l->layer, status,
                  program_file(a, dir, "stderr", &n));
    out->output = program_file(a, dir, "out0.npy", &out->n_output);
    out->trace = program_file(a, dir, "trace", &out->n_trace);
    report = json_loads(program_file(a, dir, "stdout", &n), 0, NULL);
    ck_assert_msg(report != NULL, "%s: standard output is not JSON", l->layer);
    out->cycles = json_integer_value(json_object_get(report, "cycles"));
    ck_assert_int_gt(out->cycles, 0);
    json_decref(report);
}

static size_t first_difference(const char *x, size_t n_x, const char *y,
                               size_t n_y)
{
    size_t i = 0;

    while (i < n_x && i < n_y && x[i] == y[i])
        i++;
    return i;
}

static void same_bytes(const char *what, const char *x, size_t n_x,
                       const char *y, size_t n_y)
{
    ck_assert_msg(n_x == n_y && !memcmp(x, y, n_x),
                  "%s: %zu and %zu bytes, first difference at %zu", what, n_x,
                  n_y, first_difference(x, n_x, y, n_y));
}

static void compare(const layer_run *l, const char *shaves)
{
    outcome first = {0}, other = {0};

    run(l, &variations[0], shaves, &first);
    for (int i = 0; i < N_VARIATIONS; i++) {
        const variation *v = &variations[i];
        const char *what = arena_printf(a, "%s on %s SHAVEs, %s %s", l->layer,
                                        shaves, v->option ? v->option : "again",
                                        v->value ? v->value : "");

        run(l, v, shaves, &other);
        same_bytes(arena_printf(a, "%s: output", what), first.output,
                   first.n_output, other.output, other.n_output);
        if (!v->same_time)
            continue;
        ck_assert_msg(first.cycles == other.cycles, "%s: %lld and %lld cycles",
                      what, (long long)first.cycles, (long long)other.cycles);
        same_bytes(arena_printf(a, "%s: trace", what), first.trace,
                   first.n_trace, other.trace, other.n_trace);
    }
}

START_TEST(runs_do_not_differ)
{
    compare(&layers[_i], "16");
}
END_TEST

START_TEST(runs_do_not_differ_with_few_shaves)
{
    compare(&layers[_i], "3");
}
END_TEST

START_TEST(shave_count_does_not_change_results)
{
    static const char *const counts[] = {"1", "5", "7", "12"};
    outcome first = {0}, other = {0};

    run(&layers[_i], &variations[0], "16", &first);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        run(&layers[_i], &variations[0], counts[i], &other);
        same_bytes(
            arena_printf(a, "%s on %s SHAVEs", layers[_i].layer, counts[i]),
            first.output, first.n_output, other.output, other.n_output);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("determinism");
    TCase *tc = tcase_create("same input, same everything");
    SRunner *sr;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, runs_do_not_differ, 0, N_LAYERS);
    tcase_add_loop_test(tc, runs_do_not_differ_with_few_shaves, 0, N_LAYERS);
    tcase_add_loop_test(tc, shave_count_does_not_change_results, 0, N_LAYERS);
    suite_add_tcase(suite, tc);
    sr = srunner_create(suite);
    srunner_run_all(sr, CK_NORMAL);
    failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed != 0;
}
