/* vpu tune and vpu run --tuned: what is tried, what is kept, what is written.
 */
#include <check.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/add_layer.h"

#define TUNE "tune layer.xml --shape in0=1x6x8x24 --param bias=1 "
#define RUN "run layer.xml --shape in0=1x6x8x24 --param bias=1 "

static terminal p;

static void setup(void)
{
    terminal_open(&p);
    add_layer_put(&p);
}

static void teardown(void)
{
    terminal_close(&p);
}

/* Runs it, and gives its standard output as JSON. */
static json_t *json_of(const char *args)
{
    json_error_t e;
    json_t *j;

    terminal_run(&p, args);
    ck_assert_msg(p.status == 0, "vpu %s: %s%s", args, p.out, p.err);
    j = json_loads(p.out, 0, &e);
    ck_assert_msg(j != NULL, "%s: %s", e.text, p.out);
    return j;
}

static json_t *launch_of(const json_t *j, size_t i)
{
    json_t *l = json_array_get(json_object_get(j, "launches"), i);

    ck_assert_ptr_nonnull(l);
    return l;
}

static uint64_t number(const json_t *j, const char *key)
{
    const json_t *n = json_object_get(j, key);

    ck_assert_msg(json_is_integer(n), "no number %s", key);
    return (uint64_t)json_integer_value(n);
}

static uint64_t size_at(const json_t *j, int d)
{
    return (uint64_t)json_integer_value(
        json_array_get(json_object_get(j, "local"), (size_t)d));
}

static size_t tried(const json_t *launch)
{
    return json_array_size(json_object_get(launch, "tried"));
}

static const char *text_of(const char *name)
{
    size_t n;
    const char *data = terminal_bytes(&p, name, &n);

    return arena_strndup(p.arena, data, n);
}

/* --- samples -------------------------------------------------------------- */

/* The line with the name of a file behind `at` bytes, below that folder. */
static const char *in_folder(const char *folder, const char *line, size_t at)
{
    return arena_printf(p.arena, "%.*s%s/%s", (int)at, line, folder, line + at);
}

/* The command line of a case, its files by their whole names; NULL: it is of a
 * SimpleGPU layer. */
static const char *words_of(const char *path)
{
    char *text, *rest, *line, here[4096];
    const char *out = "", *folder;
    size_t n;
    vpu_error err;

    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    folder = file_join(p.arena, here, file_dirname(p.arena, path));
    ck_assert_int_eq(file_read(path, 1 << 16, p.arena, &text, &n, &err), 0);
    rest = text;
    while ((line = strtok_r(rest, "\n", &rest))) {
        const char *words = line;

        if (*line == '#' || !strncmp(line, "--b ", 4))
            continue;
        if (!strncmp(line, "gpu.xml", 7))
            return NULL;
        if (!strncmp(line, "layer.xml", 9))
            words = in_folder(folder, line, 0);
        else if (!strncmp(line, "--blob ", 7))
            words = in_folder(folder, line, strcspn(line, "=") + 1);
        else if (!strncmp(line, "--model ", 8))
            words = in_folder(folder, line, 8);
        out = arena_printf(p.arena, "%s %s", out, words);
    }
    return out;
}

static void check_modes(const char *path)
{
    const char *words = words_of(path);

    for (int normal = 0; normal < 2 && words; normal++) {
        json_t *j =
            json_of(arena_printf(p.arena, "tune%s --mode %s --json --quiet",
                                 words, normal ? "normal" : "rapid"));
        size_t n = json_array_size(json_object_get(j, "launches"));

        ck_assert_uint_gt(n, 0);
        for (size_t i = 0; i < n; i++) {
            const json_t *l = launch_of(j, i);
            uint64_t most = number(l, "candidates") / 10;

            most = !normal ? 3 : most < 4 ? 4 : most;
            ck_assert_msg(number(l, "cost") <= number(l, "cost_before"),
                          "%s: worse than its own size", path);
            ck_assert_uint_le(tried(l), most);
        }
        json_decref(j);
    }
}

START_TEST(never_worse_than_its_own)
{
    glob_t g;

    ck_assert_int_eq(glob("kernels/*/*-host.case", 0, NULL, &g), 0);
    ck_assert_uint_gt(g.gl_pathc, 40);
    for (size_t i = (size_t)_i; i < g.gl_pathc; i += 2)
        check_modes(g.gl_pathv[i]);
    globfree(&g);
}
END_TEST

/* Two launches, and a conversion of the program's own; the costs are those of a
 * run with the size. */
START_TEST(costs_are_those_of_a_run)
{
    const char *words = words_of("kernels/mvn/mvn-host.case");
    json_t *j = json_of(arena_printf(
        p.arena, "tune%s --mode exhaustive --file t.txt --json", words));
    json_t *plain =
        json_of(arena_printf(p.arena, "run%s --json --output plain", words));
    json_t *tuned = json_of(arena_printf(
        p.arena, "run%s --json --output tuned --tuned t.txt", words));
    size_t n;

    for (size_t i = 0; i < 2; i++) {
        const json_t *l = launch_of(j, i);

        ck_assert_uint_eq(
            number(l, "cost_before"),
            number(json_array_get(json_object_get(plain, "stages"), i),
                   "cycles"));
        ck_assert_uint_eq(
            number(l, "cost"),
            number(json_array_get(json_object_get(tuned, "stages"), i),
                   "cycles"));
    }
    ck_assert_uint_lt(number(tuned, "cycles"), number(plain, "cycles"));
    ck_assert_mem_eq(terminal_bytes(&p, "plain/out0.npy", &n),
                     terminal_bytes(&p, "tuned/out0.npy", &n), n);
    json_decref(j);
    json_decref(plain);
    json_decref(tuned);
}
END_TEST

/* --- the file ------------------------------------------------------------- */

START_TEST(the_same_file_every_time)
{
    static const char *const ways[] = {"--file a.txt --threads 1",
                                       "--file b.txt --threads 4",
                                       "--file c.txt --no-cache"};
    const char *first;
    json_t *j;

    for (int i = 0; i < 3; i++) {
        terminal_run(&p, arena_printf(p.arena, TUNE "--mode %s %s",
                                      _i ? "normal" : "exhaustive", ways[i]));
        ck_assert_int_eq(p.status, 0);
    }
    first = text_of("a.txt");
    ck_assert_str_eq(text_of("b.txt"), first);
    ck_assert_str_eq(text_of("c.txt"), first);
    /* What is there is not tuned again. */
    j = json_of(TUNE "--mode exhaustive --file a.txt --json");
    ck_assert_uint_eq(number(j, "runs"), 0);
    ck_assert(json_is_true(json_object_get(launch_of(j, 0), "known")));
    json_decref(j);
    ck_assert_str_eq(text_of("a.txt"), first);
    terminal_run(&p, TUNE "--file a.txt");
    ck_assert_ptr_nonnull(strstr(p.out, "from a.txt"));
}
END_TEST

/* Another machine, shape, text or parameter is another row. */
START_TEST(what_makes_a_row)
{
    static const char *const others[] = {
        TUNE,
        TUNE "--shaves 7",
        TUNE "--set l2_hit_stall=20",
        TUNE "--timing transaction",
        "tune layer.xml --shape in0=1x6x8x12 --param bias=1 ",
        "tune layer.xml --shape in0=1x6x8x24 --param bias=2 ",
        TUNE "-D X=1 "};

    for (int i = 0; i < 7; i++) {
        int rows = 0;

        terminal_run(&p, arena_printf(p.arena, "%s --mode rapid --file t.txt",
                                      others[i]));
        ck_assert_msg(p.status == 0, "%s", p.err);
        for (const char *s = text_of("t.txt"); *s; s++)
            rows += *s == '\n';
        ck_assert_int_eq(rows, 2 + i);
    }
    terminal_run(&p, "run layer.xml --shape in0=1x1x4x16 --param bias=1 "
                     "--tuned t.txt");
    terminal_expect(&p, 0, "");
    ck_assert_ptr_nonnull(strstr(p.err, "none of its sizes is for this layer"));
    terminal_run(&p, RUN "--tuned t.txt");
    ck_assert_ptr_null(strstr(p.err, "none of its sizes"));
}
END_TEST

/* --- sizes that are not tried --------------------------------------------- */

/* A kernel in the place of that of the layer. */
static json_t *tune_kernel(const char *body, const char *more)
{
    terminal_text(&p, "add.cl",
                  arena_printf(p.arena,
                               "__kernel %s void add(__global const half *src, "
                               "__global half *dst, float bias)\n{\n"
                               "    int x = get_global_id(0), y = "
                               "get_global_id(1), z = get_global_id(2);\n"
                               "    int i = (z * 8 + y) * 24 + x;\n%s}\n",
                               more, body));
    return json_of(TUNE "--mode exhaustive --json");
}

static size_t outcomes(const json_t *l, const char *outcome)
{
    size_t i, n = 0;
    json_t *x;

    json_array_foreach(json_object_get(l, "tried"), i, x) n +=
        !strcmp(json_string_value(json_object_get(x, "outcome")), outcome);
    return n;
}

START_TEST(required_sizes)
{
    json_t *j = tune_kernel("    dst[i] = src[i] + (half)bias;\n", "");
    size_t all = tried(launch_of(j, 0));

    /* Of 24, 8 and 6: 8 * 4 * 4 divisors; 24x8x6, 12x8x6, 24x4x6 and 24x8x3
     * are more than 512. */
    ck_assert_uint_eq(all, 8 * 4 * 4 - 4);
    ck_assert_uint_eq(outcomes(launch_of(j, 0), "ran"), all);
    json_decref(j);
    terminal_text(&p, "layer.xml",
                  ADD_HEAD ADD_BODY("add.cl",
                                    "global=\"X,Y,F\" "
                                    "local=\"8,4,1\"") "</CustomLayer>\n");
    j = tune_kernel("    dst[i] = src[i] + (half)bias;\n",
                    "__attribute__((reqd_work_group_size(8, 4, 1)))");
    ck_assert_uint_eq(tried(launch_of(j, 0)), 1);
    ck_assert_uint_eq(size_at(launch_of(j, 0), 1), 4);
    json_decref(j);
}
END_TEST

/* 300 floats of each item live across the barrier: 85 items have 100 KB. */
START_TEST(local_memory)
{
    json_t *j = tune_kernel("    float t[300];\n"
                            "    for (int k = 0; k < 300; k++)\n"
                            "        t[k] = src[i] + k;\n"
                            "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
                            "    for (int k = 0; k < 300; k++)\n"
                            "        t[(k * 7 + x) % 300] += t[k];\n"
                            "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
                            "    dst[i] = (half)(t[x] + bias);\n",
                            "");
    json_t *l = launch_of(j, 0), *x;
    size_t i;

    json_array_foreach(json_object_get(l, "tried"), i, x)
        ck_assert_uint_le(size_at(x, 0) * size_at(x, 1) * size_at(x, 2), 85);
    ck_assert_uint_gt(tried(l), 20);
    ck_assert_uint_eq(outcomes(l, "limit") + outcomes(l, "fault"), 0);
    json_decref(j);
}
END_TEST

/* Kernels that count on their size keep it. */
START_TEST(sizes_that_kernels_count_on)
{
    json_t *j = tune_kernel("    dst[i] = src[i] + get_local_id(0);\n", "");
    json_t *l = launch_of(j, 0);

    ck_assert_uint_eq(size_at(l, 0), 24);
    ck_assert_uint_eq(outcomes(l, "ran") + outcomes(l, "other values"),
                      tried(l));
    json_decref(j);
    /* Far outside of dst, but with its own size. */
    j = tune_kernel("    dst[i + (24 - get_local_size(0)) * 1000000] = "
                    "src[i];\n",
                    "");
    l = launch_of(j, 0);
    ck_assert_uint_eq(size_at(l, 0), 24);
    ck_assert_uint_gt(outcomes(l, "fault"), 80);
    /* Sizes behind one that faulted run as ever. */
    ck_assert_uint_eq(outcomes(l, "ran") + outcomes(l, "fault"), tried(l));
    ck_assert_uint_gt(outcomes(l, "ran"), 5);
    json_decref(j);
    /* With any other size without end. */
    terminal_text(&p, "add.cl",
                  "__kernel void add(__global const half *src, __global half "
                  "*dst, float bias)\n{\n"
                  "    int i = (get_global_id(2) * 8 + get_global_id(1)) * 24 "
                  "+ get_global_id(0);\n"
                  "    while (get_local_size(0) != 24)\n        ;\n"
                  "    dst[i] = src[i];\n}\n");
    j = json_of(TUNE "--mode normal --json --max-cycles 200000");
    l = launch_of(j, 0);
    ck_assert_uint_eq(size_at(l, 0), 24);
    ck_assert_uint_gt(outcomes(l, "limit"), 0);
    json_decref(j);
}
END_TEST

/* What is read and written begins with the same contents each time. */
START_TEST(a_launch_that_adds_to_its_output)
{
    json_t *j = tune_kernel("    dst[i] = dst[i] + src[i] + (half)bias;\n", "");
    json_t *l = launch_of(j, 0);

    ck_assert_uint_eq(outcomes(l, "ran"), tried(l));
    json_decref(j);
}
END_TEST

START_TEST(a_fault_with_its_own_size)
{
    terminal_text(&p, "add.cl",
                  "__kernel void add(__global const half *src, __global half "
                  "*dst, float bias)\n{\n    dst[100000000] = src[0];\n}\n");
    terminal_run(&p, TUNE "--file t.txt");
    terminal_expect(&p, 3, "add.cl:3");
    ck_assert(!terminal_has(&p, "t.txt"));
}
END_TEST

/* Four groups of five columns run, the last four columns do not: no other size
 * does just that. */
START_TEST(sizes_that_do_not_divide)
{
    terminal_text(
        &p, "layer.xml",
        ADD_HEAD ADD_BODY(
            "add.cl", "global=\"X,Y,F\" local=\"5,1,1\"") "</CustomLayer>\n");
    terminal_run(&p, TUNE "--mode exhaustive --file t.txt");
    ck_assert_int_eq(p.status, 0);
    ck_assert_ptr_nonnull(strstr(p.out, "local 5x1x1"));
    ck_assert_ptr_nonnull(strstr(p.out, "with other values"));
    ck_assert_str_eq(text_of("t.txt"), "vpu-tune 1\n");
}
END_TEST

START_TEST(numbers_of_shaves)
{
    json_t *j = json_of("tune layer.xml --shape in0=1x1x4x16 --param bias=1 "
                        "--mode exhaustive --shaves-too --shaves 3 --json "
                        "--file t.txt");
    json_t *l = launch_of(j, 0);

    /* Divisors 5 * 3 * 1. */
    ck_assert_uint_eq(tried(l), 15 * 3);
    ck_assert_uint_le(number(l, "shaves"), 2);
    ck_assert_uint_le(number(l, "cost"), number(l, "cost_before"));
    json_decref(j);
    j = json_of("run layer.xml --shape in0=1x1x4x16 --param bias=1 --shaves 3 "
                "--tuned t.txt --json");
    json_decref(j);
}
END_TEST

/* --- the binding file ----------------------------------------------------- */

/* Lines of `after` that are not those of `before`; *changed: the last. */
static int changed_lines(const char *before, const char *after,
                         const char **changed)
{
    int n = 0;

    while (*before || *after) {
        size_t x = strcspn(before, "\n"), y = strcspn(after, "\n");

        if (x != y || strncmp(before, after, x)) {
            *changed = arena_strndup(p.arena, after, y);
            n++;
        }
        before += x + (before[x] == '\n');
        after += y + (after[y] == '\n');
    }
    return n;
}

START_TEST(writes_the_size_alone)
{
    static const char *const sizes[] = {"global=\"X,Y,F\" local=\"1,1,1\"",
                                        "global=\"X,Y,F\"   local='1'  ",
                                        "local=\"X/X,Y/Y\" global=\"X,Y,F\""};
    const char *before = arena_printf(
        p.arena, "<!-- Straße -->\n" ADD_HEAD "%s</CustomLayer>",
        arena_printf(p.arena, ADD_BODY("add.cl", "%s"), sizes[_i]));
    const char *line = NULL, *diff;

    terminal_text(&p, "layer.xml", before);
    terminal_run(&p, TUNE "--mode exhaustive --diff");
    ck_assert_int_eq(p.status, 0);
    diff = arena_strdup(p.arena, p.out);
    ck_assert_str_eq(text_of("layer.xml"), before); /* not yet */
    ck_assert_ptr_nonnull(strstr(diff, "\n--- layer.xml\n+++ layer.xml\n@@ -"));
    ck_assert_ptr_nonnull(strstr(p.err, "is for the global size 24x8x6"));
    terminal_text(&p, "before.xml", before);
    terminal_run(&p, TUNE "--mode exhaustive --write");
    ck_assert_str_eq(p.out, diff);
    /* As diff sees it. */
    ck_assert_int_eq(
        system(arena_printf(p.arena,
                            "cd %s && ! diff -u --label layer.xml --label "
                            "layer.xml before.xml layer.xml >by-diff",
                            p.dir)),
        0);
    ck_assert_str_eq(strstr(diff, "--- layer.xml"), text_of("by-diff"));
    ck_assert_int_eq(changed_lines(before, text_of("layer.xml"), &line), 1);
    ck_assert_ptr_nonnull(strstr(line, "<WorkSizes dim=\"input,0\" "));
    ck_assert_ptr_nonnull(strstr(line, "global=\"X,Y,F\""));
    terminal_run(&p, TUNE "--mode exhaustive --write");
    ck_assert_ptr_nonnull(strstr(p.out, "nothing to change"));
    ck_assert_int_eq(changed_lines(before, text_of("layer.xml"), &line), 1);
}
END_TEST

/* What stays keeps its expression. */
START_TEST(expressions_stay)
{
    const char *line = NULL;

    terminal_text(
        &p, "layer.xml",
        ADD_HEAD ADD_BODY(
            "add.cl", "global=\"X,Y,F\" local=\"X+0,1,1\"") "</CustomLayer>\n");
    terminal_run(&p, "tune layer.xml --shape in0=1x16x16x24 --param bias=1 "
                     "--mode exhaustive --write");
    ck_assert_int_eq(p.status, 0);
    changed_lines("", text_of("layer.xml"), &line);
    ck_assert_msg(strstr(text_of("layer.xml"), "local=\"X+0,") != NULL, "%s",
                  p.out);
}
END_TEST

/* Two items of a batch are two launches of one element. */
START_TEST(one_element_for_two_launches)
{
    const char *args = "tune layer.xml --shape in0=2x6x8x24 --param bias=1 "
                       "--batch device --mode exhaustive ";
    const char *note;

    terminal_text(
        &p, "layer.xml",
        ADD_HEAD ADD_BODY("add.cl",
                          "global=\"X,Y,F\" local=\"1\"") "</CustomLayer>\n");
    terminal_run(&p, arena_printf(p.arena, "%s--write", args));
    ck_assert_msg(p.status == 0, "%s", p.err);
    ck_assert_ptr_nonnull(strstr(p.out, "as of an equal launch above"));
    ck_assert_ptr_nonnull(strstr(p.out, "\n+    <WorkSizes dim=\"input,0\" "
                                        "global=\"X,Y,F\" local=\""));
    note = strstr(p.err, "is for the global size"); /* each has its own */
    ck_assert_ptr_nonnull(note);
    ck_assert_ptr_nonnull(strstr(note + 1, "is for the global size"));
    terminal_run(&p, arena_printf(p.arena, "%s--write", args));
    ck_assert_ptr_nonnull(strstr(p.out, "nothing to change"));
}
END_TEST

START_TEST(sizes_over_several_lines)
{
    terminal_text(
        &p, "layer.xml",
        ADD_HEAD ADD_BODY(
            "add.cl", "global=\"X,Y,F\" local=\"1,\n1,1\"") "</CustomLayer>\n");
    terminal_run(&p, TUNE "--mode exhaustive --write");
    ck_assert_int_eq(p.status, 0);
    ck_assert_ptr_nonnull(strstr(p.err, "does not stand in one line"));
    ck_assert_ptr_nonnull(strstr(p.out, "nothing to change"));
}
END_TEST

/* --- words ---------------------------------------------------------------- */

static const struct {
    const char *args;
    int status;
    const char *words;
} mistakes[] = {
    {"tune", 2, "vpu tune"},
    {"tune missing.xml", 2, "missing.xml"},
    {TUNE "--mode quick", 2, "rapid|normal|exhaustive"},
    {TUNE "--shaves-too", 2, "--shaves-too needs --mode exhaustive"},
    {TUNE "--mode exhaustive --shaves-too --backend null", 2,
     "--shaves-too is about the simulator"},
    {TUNE "--backend null", 5, "backend null"},
    {TUNE "--backend nul", 2, "no backend"},
    {TUNE "--timing none", 5, "neither cycles nor a clock"},
    {TUNE "--file bad.txt", 2, "bad.txt:2: error: 'x y'; expected a row"},
    {TUNE "--file missing/t.txt", 2, "missing/t.txt"},
    {RUN "--tuned bad.txt", 2, "bad.txt:2: error: 'x y'; expected a row"},
    {RUN "--tuned no.txt", 2, "no.txt"},
    {TUNE "--input 7=zeros", 2, "the layer has no input 7"},
    {"tun layer.xml", 2, "did you mean"}};

START_TEST(mistakes_are_told)
{
    terminal_text(&p, "bad.txt", "vpu-tune 1\nx y\n");
    terminal_run(&p, mistakes[_i].args);
    terminal_expect(&p, mistakes[_i].status, mistakes[_i].words);
    ck_assert_str_eq(text_of("layer.xml"), ADD_LAYER);
    ck_assert_str_eq(text_of("bad.txt"), "vpu-tune 1\nx y\n");
}
END_TEST

START_TEST(help)
{
    terminal_run(&p, "tune --help");
    terminal_expect(&p, 0, "");
    ck_assert_ptr_nonnull(strstr(p.out, "usage: vpu tune LAYER.xml"));
    ck_assert_ptr_nonnull(strstr(p.out, "--mode rapid|normal|exhaustive"));
    ck_assert_ptr_nonnull(strstr(p.out, "--write"));
    terminal_run(&p, "--help");
    ck_assert_ptr_nonnull(strstr(p.out, "\n  tune "));
    terminal_run(&p, "run --help");
    ck_assert_ptr_nonnull(strstr(p.out, "--tuned FILE"));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("vpu tune");
    TCase *t = tcase_create("tune");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, never_worse_than_its_own, 0, 2);
    tcase_add_test(t, costs_are_those_of_a_run);
    tcase_add_loop_test(t, the_same_file_every_time, 0, 2);
    tcase_add_test(t, what_makes_a_row);
    tcase_add_test(t, required_sizes);
    tcase_add_test(t, local_memory);
    tcase_add_test(t, sizes_that_kernels_count_on);
    tcase_add_test(t, a_launch_that_adds_to_its_output);
    tcase_add_test(t, a_fault_with_its_own_size);
    tcase_add_test(t, sizes_that_do_not_divide);
    tcase_add_test(t, numbers_of_shaves);
    tcase_add_loop_test(t, writes_the_size_alone, 0, 3);
    tcase_add_test(t, expressions_stay);
    tcase_add_test(t, one_element_for_two_launches);
    tcase_add_test(t, sizes_over_several_lines);
    tcase_add_loop_test(t, mistakes_are_told, 0,
                        sizeof mistakes / sizeof *mistakes);
    tcase_add_test(t, help);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
