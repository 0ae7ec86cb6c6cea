/* vpu sweep slurm, submit and status, where Slurm is shell scripts that answer
 * as the test needs it. make check-slurm has the real one. */
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "tests/support/terminal.h"

static terminal p;
static const char *root;

/* Six points, of which number 5 stops at its limit of cycles. */
static void setup(void)
{
    terminal_open(&p);
    root = realpath(".", NULL);
    setenv("PATH", arena_printf(p.arena, "%s/bin:/usr/bin:/bin", p.dir), 1);
    terminal_text(&p, "six.sweep",
                  arena_printf(p.arena,
                               "run %s/kernels/grn/layer.xml --layer GRN "
                               "--param bias=1 --shape in0=1x4x4x8\n"
                               "vary --shaves 1 | --shaves 2 | --shaves 3 | "
                               "--shaves 4 | --shaves 5 | --shaves 6 "
                               "--max-cycles 10\n",
                               root));
    terminal_run(&p, "sweep plan six.sweep --dir six");
    terminal_expect(&p, 0, "");
}

static void teardown(void)
{
    terminal_close(&p);
}

static void program(const char *name, const char *text)
{
    const char *file = arena_printf(p.arena, "bin/%s", name);

    mkdir(arena_printf(p.arena, "%s/bin", p.dir), 0755);
    terminal_text(&p, file, arena_printf(p.arena, "#!/bin/sh\n%s\n", text));
    ck_assert_int_eq(chmod(arena_printf(p.arena, "%s/%s", p.dir, file), 0755),
                     0);
}

/* sbatch: array job 41, gather job 42; its words are kept. */
static void has_slurm(const char *lines)
{
    program("sbatch", "echo \"$@\" >>sbatch.log\n"
                      "case \"$*\" in *gather*) echo 42;; *) echo 41;; esac");
    program("squeue", arena_printf(p.arena, "printf '%%b' '%s'", lines));
}

static const char *text_of(const char *name)
{
    size_t n;

    return terminal_bytes(&p, name, &n);
}

static void expect_out(const char *words)
{
    ck_assert_msg(strstr(p.out, words) != NULL, "%s: %s", words, p.out);
}

/* --- status --------------------------------------------------------------- */

START_TEST(status_without_slurm)
{
    terminal_run(&p, "sweep status six");
    terminal_expect(&p, 1, "");
    expect_out("6 points: 0 have results, 6 have none, of which 0 failed");
    terminal_run(&p, "sweep run six --jobs 1");
    terminal_expect(&p, 1, "");
    terminal_run(&p, "sweep status six");
    terminal_expect(&p, 1, "");
    expect_out("6 points: 5 have results, 1 have none, of which 1 failed");
    expect_out("point 5 failed: ");
    ck_assert(!strstr(p.out, "job"));
}
END_TEST

/* Points 1 and 4 are the second task's, and so on. */
START_TEST(status_says_in_which_tasks_points_are)
{
    json_t *j, *of;

    has_slurm("41_0|RUNNING|None|n1\\n41_1|PENDING|Resources|\\n"
              "41_2|PENDING|launch failed requeued held|\\n"
              "42|PENDING|Dependency|\\n");
    terminal_run(&p, "sweep slurm six --tasks 3");
    terminal_expect(&p, 0, "");
    terminal_run(&p, "sweep submit six");
    terminal_expect(&p, 0, "");
    expect_out("array job 41: tasks 0-2 of 3, 6 points without a result");
    terminal_run(&p, "sweep status six");
    terminal_expect(&p, 1, "");
    expect_out("2 in running tasks, 2 in waiting, 2 in held, 0 in none");
    expect_out("array job 41, tasks 0-2 of 3: 1 running (n1), 1 waiting "
               "(Resources), 1 held (launch failed requeued held)\n");
    expect_out("gather job 42: 1 waiting (Dependency)\n");
    expect_out("job 41_2 is held: launch failed requeued held; scontrol "
               "release 41_2");
    terminal_run(&p, "sweep status six --json");
    j = json_loads(p.out, 0, NULL);
    ck_assert_ptr_nonnull(j);
    of = json_object_get(j, "missing_by_stage");
    ck_assert_int_eq(json_integer_value(json_object_get(of, "held")), 2);
    ck_assert_uint_eq(json_array_size(json_object_get(j, "tasks")), 4);
    ck_assert(json_is_true(json_object_get(j, "slurm")));
    json_decref(j);
}
END_TEST

START_TEST(status_where_squeue_fails)
{
    has_slurm("");
    terminal_run(&p, "sweep slurm six --tasks 3");
    terminal_run(&p, "sweep submit six");
    terminal_expect(&p, 0, "");
    program("squeue", "echo 'slurm_load_jobs error: down' >&2; exit 1");
    terminal_run(&p, "sweep status six");
    terminal_expect(&p, 1, "");
    expect_out("6 points: 0 have results");
    expect_out("jobs: not known: squeue: slurm_load_jobs error: down");
    terminal_run(&p, "sweep status six --json");
    ck_assert(strstr(p.out, "\"missing_by_stage\": null") != NULL);
}
END_TEST

/* --- scripts -------------------------------------------------------------- */

START_TEST(scripts_stay_unless_they_are_to_be_replaced)
{
    terminal_run(&p, "sweep slurm six --tasks 3 --at-once 2 -- -p short");
    terminal_expect(&p, 0, "");
    expect_out("six/slurm/array.sh: 3 tasks for 6 points");
    terminal_text(&p, "six/slurm/array.sh", "mine");
    terminal_run(&p, "sweep slurm six --tasks 2");
    terminal_expect(&p, 2, "--replace writes them anew");
    ck_assert_str_eq(text_of("six/slurm/array.sh"), "mine");
    terminal_run(&p, "sweep slurm six --tasks 2 --replace");
    terminal_expect(&p, 0, "");
    ck_assert(strstr(text_of("six/slurm/array.sh"), "--array=0-1\n") != NULL);
}
END_TEST

/* Points 0, 2 and 4: their results stay. */
START_TEST(a_pilot_plans)
{
    const char *text;

    terminal_run(&p, "sweep slurm six");
    terminal_expect(&p, 0, "");
    expect_out("pilot: 3 points in ");
    expect_out("six/slurm/array.sh: 1 task for 3 points");
    text = text_of("six/slurm/array.sh");
    ck_assert(strstr(text, "#SBATCH --mem=") &&
              strstr(text, "#SBATCH --time="));
    terminal_run(&p, "sweep status six");
    expect_out("6 points: 3 have results");
}
END_TEST

START_TEST(nothing_is_left_to_plan)
{
    terminal_text(&p, "two.sweep",
                  arena_printf(p.arena,
                               "run %s/kernels/grn/layer.xml --layer GRN "
                               "--param bias=1 --shape in0=1x4x4x8\n"
                               "vary --shaves 1 2\n",
                               root));
    terminal_run(&p, "sweep plan two.sweep --dir two");
    terminal_expect(&p, 0, "");
    terminal_run(&p, "sweep slurm two");
    terminal_expect(&p, 0, "");
    expect_out("all 2 points have results; vpu sweep gather two");
    ck_assert(!terminal_has(&p, "two/slurm/array.sh"));
    has_slurm("");
    terminal_run(&p, "sweep submit two");
    terminal_expect(&p, 0, "");
    expect_out("all 2 points have results");
    ck_assert(!terminal_has(&p, "two/sbatch.log"));
    terminal_run(&p, "sweep status two");
    terminal_expect(&p, 0, "");
}
END_TEST

/* --- submission ------------------------------------------------------------ */

START_TEST(only_tasks_with_missing_points_are_submitted)
{
    has_slurm("41_2|COMPLETED|None|n1\\n42|FAILED|NonZeroExitCode|n1\\n");
    terminal_run(&p, "sweep run six --jobs 1");
    terminal_run(&p, "sweep slurm six --tasks 3");
    terminal_run(&p, "sweep submit six -- --partition=short");
    terminal_expect(&p, 0, "");
    expect_out("array job 41: tasks 2 of 3, 1 points without a result");
    ck_assert(strstr(text_of("six/sbatch.log"), "--partition=short --chdir=") &&
              strstr(text_of("six/sbatch.log"), " --array=2 slurm/array.sh") &&
              strstr(text_of("six/sbatch.log"), " --dependency=afterany:41 "));
    terminal_run(&p, "sweep status six");
    expect_out("array job 41, tasks 2 of 3: 1 completed\n"
               "gather job 42: 1 ended (FAILED: NonZeroExitCode)\n");
    expect_out("0 in running tasks, 0 in waiting, 0 in held, 1 in none");
    terminal_run(&p, "sweep submit six --wait");
    terminal_expect(&p, 1, "");
    expect_out("1 of 6 points have no result; vpu sweep status six tells why");
}
END_TEST

START_TEST(what_is_at_work_is_not_submitted_again)
{
    has_slurm("41_0|RUNNING|None|n1\\n42|PENDING|Dependency|\\n");
    terminal_run(&p, "sweep slurm six --tasks 3");
    terminal_run(&p, "sweep submit six");
    terminal_expect(&p, 0, "");
    terminal_run(&p, "sweep submit six");
    terminal_expect(&p, 2, "scancel 41 42, or give --again");
    terminal_run(&p, "sweep submit six --again");
    terminal_expect(&p, 0, "");
}
END_TEST

/* Before the pilot, which may take a minute. */
START_TEST(no_sbatch)
{
    terminal_run(&p, "sweep submit six");
    terminal_expect(&p, 2, "sbatch: not in PATH");
    terminal_expect(&p, 2, "vpu sweep run six");
    ck_assert(!terminal_has(&p, "six/slurm/array.sh"));
}
END_TEST

static const struct {
    const char *command, *words;
} mistakes[] = {{"sweep submit", "no folder"},
                {"sweep status six six", "too many words"},
                {"sweep slurm nowhere", "nowhere"},
                {"sweep submit tmp", "tmp"},
                {"sweep status tmp", "tmp"},
                {"sweep slurm six --tasks 0", "--tasks"},
                {"sweep slurm six --tasks 1001", "--tasks"},
                {"sweep slurm six --task-time 0", "--task-time"},
                {"sweep slurm six --at-once 0", "--at-once"}};

START_TEST(a_mistake_is_said)
{
    terminal_run(&p, mistakes[_i].command);
    terminal_expect(&p, 2, mistakes[_i].words);
    ck_assert_str_eq(p.out, "");
    ck_assert(!terminal_has(&p, "six/slurm/array.sh"));
}
END_TEST

START_TEST(a_damaged_plan)
{
    has_slurm("");
    terminal_run(&p, "sweep slurm six --tasks 3");
    terminal_text(&p, "six/slurm/plan.json", "{\"tasks\": \"3\"}");
    terminal_run(&p, "sweep submit six");
    terminal_expect(&p, 2, "plan.json: error: expected an object with tasks");
    ck_assert(!terminal_has(&p, "six/sbatch.log"));
}
END_TEST

START_TEST(a_folder_that_cannot_be_written)
{
    terminal_text(&p, "six/slurm", "a file");
    terminal_run(&p, "sweep slurm six --tasks 3");
    terminal_expect(&p, 2, "six/slurm");
}
END_TEST

static TCase *with(const char *name)
{
    TCase *t = tcase_create(name);

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    return t;
}

int main(void)
{
    Suite *s = suite_create("vpu sweep slurm, submit, status");
    TCase *t = with("status");
    SRunner *r;
    int failed;

    tcase_add_test(t, status_without_slurm);
    tcase_add_test(t, status_says_in_which_tasks_points_are);
    tcase_add_test(t, status_where_squeue_fails);
    suite_add_tcase(s, t);
    t = with("scripts");
    tcase_add_test(t, scripts_stay_unless_they_are_to_be_replaced);
    tcase_add_test(t, a_pilot_plans);
    tcase_add_test(t, nothing_is_left_to_plan);
    suite_add_tcase(s, t);
    t = with("submission");
    tcase_add_test(t, only_tasks_with_missing_points_are_submitted);
    tcase_add_test(t, what_is_at_work_is_not_submitted_again);
    tcase_add_test(t, no_sbatch);
    tcase_add_loop_test(t, a_mistake_is_said, 0,
                        sizeof mistakes / sizeof *mistakes);
    tcase_add_test(t, a_damaged_plan);
    tcase_add_test(t, a_folder_that_cannot_be_written);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
