/* The two levels of the timing model against each other, and both against no
 * timing at all: every command that the samples' own pages show, with all
 * SHAVEs and with the seven a network gets. */
#include <check.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/kernels/program.h"

static arena *mem;
static char *dir;

static void setup(void)
{
    mem = arena_create(0);
    dir = program_temp_dir(mem);
}

static void teardown(void)
{
    program_remove_dir(dir);
    arena_destroy(mem);
}

/* The next "    vpu run …" of a page, continuation lines joined; NULL = none.
 */
static char *next_command(char **at)
{
    static const char lead[] = "\n    vpu run ";
    char *begin = strstr(*at, lead), *p;

    if (!begin)
        return NULL;
    begin += sizeof lead - 1;
    for (p = begin; *p && *p != '\n'; p++)
        if (p[0] == '\\' && p[1] == '\n')
            p[0] = p[1] = ' ';
    *at = p;
    return arena_strndup(mem, begin, (size_t)(p - begin));
}

/* Words of the command that name files the reader would have to bring. */
static bool needs_files(const char *command)
{
    return strstr(command, ".npy") || strstr(command, "--model");
}

/* Runs the command; cycles of all its stages, 0 without timing. Its first
 * output is in *data. */
static uint64_t run(const char *command, const char *shaves, const char *timing,
                    char **data, size_t *n_bytes)
{
    static const char *const own[] = {"--output", "--trace", "--trace-json",
                                      "--shaves", "--report"};
    char *words = arena_strdup(mem, command), *save = NULL;
    program_args args;
    uint64_t cycles = 0;
    size_t n, i;
    json_t *report, *stage;

    program_args_init(&args, mem, "run", NULL);
    for (char *w = strtok_r(words, " ", &save); w;
         w = strtok_r(NULL, " ", &save)) {
        bool replaced = false;

        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            replaced |= !strcmp(w, own[k]);
        if (replaced)
            strtok_r(NULL, " ", &save);
        else
            program_args_add(&args, "%s", w);
    }
    program_args_add(&args, "--shaves");
    program_args_add(&args, "%s", shaves);
    program_args_add(&args, "--timing");
    program_args_add(&args, "%s", timing);
    program_args_add(&args, "--output");
    program_args_add(&args, "%s/out", dir);
    program_args_add(&args, "--report");
    program_args_add(&args, "json");
    ck_assert_msg(!program_run(&args, dir), "vpu run %s: %s", command,
                  program_file(mem, dir, "stderr", &n));
    report = json_loads(program_file(mem, dir, "stdout", &n), 0, NULL);
    ck_assert_ptr_nonnull(report);
    json_array_foreach(json_object_get(report, "stages"), i, stage) cycles +=
        (uint64_t)json_integer_value(json_object_get(stage, "cycles"));
    json_decref(report);
    *data = program_file(mem, dir, "out/out0.npy", n_bytes);
    return cycles;
}

static void compare(const char *command, const char *shaves)
{
    char *flow, *lines, *none;
    size_t n_flow, n_lines, n_none;
    uint64_t a = run(command, shaves, "flow", &flow, &n_flow);
    uint64_t b = run(command, shaves, "transaction", &lines, &n_lines);
    double ratio = (double)a / (double)b;

    ck_assert_uint_eq(run(command, shaves, "none", &none, &n_none), 0);
    printf("%2s SHAVEs %10llu %10llu %.3f  %.60s\n", shaves,
           (unsigned long long)a, (unsigned long long)b, ratio,
           command + sizeof "kernels");
    ck_assert_msg(ratio > 0.95 && ratio < 1.05,
                  "%s with %s SHAVEs: %llu cycles as flows, %llu line by line",
                  command, shaves, (unsigned long long)a,
                  (unsigned long long)b);
    ck_assert_uint_eq(n_flow, n_lines);
    ck_assert_mem_eq(flow, lines, n_flow);
    ck_assert_uint_eq(n_flow, n_none);
    ck_assert_mem_eq(flow, none, n_flow);
}

START_TEST(levels_agree_on_all_samples)
{
    unsigned n_commands = 0;
    glob_t pages;

    ck_assert_int_eq(glob("kernels/*/README.md", 0, NULL, &pages), 0);
    for (size_t k = 0; k < pages.gl_pathc; k++) {
        size_t n;
        char *at = program_file(mem, ".", pages.gl_pathv[k], &n), *command;

        while ((command = next_command(&at))) {
            if (needs_files(command))
                continue;
            compare(command, "16");
            compare(command, "7");
            n_commands++;
        }
    }
    globfree(&pages);
    ck_assert_uint_ge(n_commands, 15);
}
END_TEST

START_TEST(what_timing_cannot_do_is_said)
{
    program_args args;
    size_t n;

    program_args_init(&args, mem, "run", "kernels/prior_grid/layer.xml",
                      "--timing", "some", NULL);
    ck_assert_int_eq(program_run(&args, dir), 2);
    ck_assert_ptr_nonnull(
        strstr(program_file(mem, dir, "stderr", &n), "--timing"));
}
END_TEST

int main(void)
{
    TCase *t = tcase_create("timing");
    Suite *s = suite_create("timing levels");
    SRunner *runner = srunner_create(s);
    int failed;

    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, levels_agree_on_all_samples);
    tcase_add_test(t, what_timing_cannot_do_is_said);
    suite_add_tcase(s, t);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
