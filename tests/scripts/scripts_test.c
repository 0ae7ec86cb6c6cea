/* The scripts that judge: one that overlooks something says yes for ever. Each
 * runs on a small tree of its own. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/support/terminal.h"

static terminal p;
static char *root;

static void setup(void)
{
    root = realpath(".", NULL);
    ck_assert_ptr_nonnull(root);
    terminal_open(&p);
}

static void teardown(void)
{
    terminal_close(&p);
    free(root);
}

/* Both streams of a shell command in the directory. */
static const char *shell(const char *command, int *status)
{
    char *line = arena_printf(p.a, "{ cd %s && %s ; } 2>&1", p.dir, command);
    char *out = arena_push(p.a, 1 << 14, 1, 1);
    FILE *f = popen(line, "r");
    int st;

    ck_assert_ptr_nonnull(f);
    out[fread(out, 1, (1 << 14) - 1, f)] = 0;
    st = pclose(f);
    *status = WIFEXITED(st) ? WEXITSTATUS(st) : 255;
    return out;
}

/* --- check-layers --------------------------------------------------------- */

static const struct {
    const char *line;
    bool uphill;
} includes[] = {
    {"#include \"base/err.h\"", false},
    {"#include \"near.h\"", false},
    {"#include <sys/stat.h>", false},
    {"#include <stdio.h>", false},
    {"#include <base/err.h>", false},
    {"#include \"runtime/graph/graph.h\"", true},
    {"#include <runtime/graph/graph.h>", true},
    {"  #  include <sim/compiler/kernel.h>", true},
    {"#\tinclude\t\"isa/isa.h\"", true},
    {"#include <tests/support/rig.h>", true},
};

START_TEST(layers)
{
    const char *out;
    int status;

    shell("mkdir -p isa base/trace visualizer runtime", &status);
    ck_assert_int_eq(status, 0);
    terminal_text(&p, "base/trace/new.h",
                  arena_printf(p.a, "%s\n", includes[_i].line));
    out = shell(arena_printf(p.a, "%s/scripts/check-layers", root), &status);
    ck_assert_msg(status == includes[_i].uphill, "%s: status %d, %s",
                  includes[_i].line, status, out);
    ck_assert_msg(!strstr(out, "base/trace/new.h: includes") ==
                      !includes[_i].uphill,
                  "%s: %s", includes[_i].line, out);
}
END_TEST

/* --- run-tests --------------------------------------------------------------
 */

static const struct {
    const char *tests, *want;
    int status;
} runs[] = {
    {"./whole", "3 passed, 0 failed, 0 skipped", 0},
    {"./whole ./part", "5 passed, 0 failed, 7 skipped", 0},
    {"./whole ./bad", "5 passed, 1 failed, 0 skipped", 1},
    {"./part ./gone", "2 passed, 1 failed, 7 skipped", 1},
    {"./late", "3 passed, 1 failed, 0 skipped", 1},
};

/* A test program that prints this and ends with that status. */
static void program(const char *name, const char *text, int status)
{
    int st;

    terminal_text(&p, name,
                  arena_printf(p.a, "#!/bin/sh\ncat <<EOF\n%s\nEOF\nexit %d\n",
                               text, status));
    shell(arena_printf(p.a, "chmod +x %s", name), &st);
    ck_assert_int_eq(st, 0);
}

START_TEST(sums)
{
    const char *out;
    int status;

    program("whole", "100%: Checks: 3, Failures: 0, Errors: 0", 0);
    program("part",
            "100%: Checks: 2, Failures: 0, Errors: 0\n"
            "skipped 4: no gdb\nskipped 3: no display\nnot skipped 9: a word",
            0);
    program("bad", "66%: Checks: 3, Failures: 1, Errors: 0", 1);
    program("late", "100%: Checks: 3, Failures: 0, Errors: 0", 1);
    program("gone", "Killed", 137);
    out = shell(
        arena_printf(p.a, "%s/scripts/run-tests o %s", root, runs[_i].tests),
        &status);
    ck_assert_int_eq(status, runs[_i].status);
    ck_assert_msg(strstr(out, arena_printf(p.a, "\n%s\n", runs[_i].want)) !=
                      NULL,
                  "'%s' is not in\n%s", runs[_i].want, out);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("scripts");
    TCase *c = tcase_create("scripts");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, layers, 0, sizeof includes / sizeof *includes);
    tcase_add_loop_test(c, sums, 0, sizeof runs / sizeof *runs);
    suite_add_tcase(s, c);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
