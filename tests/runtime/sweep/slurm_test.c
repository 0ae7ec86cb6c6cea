/* Scripts for Slurm, sbatch and squeue as processes, the record of submissions.
 * The programs are shell scripts here, which do what the real ones do not do
 * when asked: fail, print nonsense, have forgotten. make check-slurm has the
 * real ones. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "runtime/sweep/squeue.h"

static arena *a;
static char dir[] = "/tmp/slurm-test-XXXXXX";
static vpu_error err;

static void setup(void)
{
    a = arena_create(0);
    strcpy(dir + strlen(dir) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    setenv("PATH", arena_printf(a, "%s/bin:/usr/bin:/bin", dir), 1);
    ck_assert_int_eq(file_mkdirs(file_join(a, dir, "bin"), &err), VPU_OK);
    ck_assert_int_eq(file_mkdirs(file_join(a, dir, "slurm"), &err), VPU_OK);
}

static void teardown(void)
{
    char command[64];

    snprintf(command, sizeof command, "/bin/rm -rf %s", dir);
    ck_assert_int_eq(system(command), 0);
    arena_destroy(a);
}

static void program(const char *name, const char *text)
{
    char *path = arena_printf(a, "%s/bin/%s", dir, name);
    char *whole = arena_printf(a, "#!/bin/sh\n%s\n", text);

    ck_assert_int_eq(file_write(path, whole, strlen(whole), &err), VPU_OK);
    ck_assert_int_eq(chmod(path, 0755), 0);
}

static const char *content(const char *name)
{
    char *data;
    size_t n;

    ck_assert_int_eq(
        file_read(file_join(a, dir, name), 1 << 20, a, &data, &n, &err),
        VPU_OK);
    return data;
}

static void expect(vpu_status st, vpu_status wanted, const char *words)
{
    ck_assert_int_eq(st, wanted);
    ck_assert_msg(strstr(err.msg, words) != NULL, "%s", err.msg);
}

/* --- scripts -------------------------------------------------------------- */

static bool has_line(const char *text, const char *line)
{
    const char *at = strstr(text, line);

    return at && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';
}

START_TEST(a_script_has_what_the_plan_says)
{
    char *options[] = {"--partition=short", "--comment=a \"b\" \\c"};
    slurm_plan p = {.name = "my sweep/1",
                    .n_tasks = 8,
                    .at_once = 3,
                    .n_cpus = 2,
                    .bytes = ((uint64_t)512 << 20) + 1,
                    .minutes = 40,
                    .options = options,
                    .n_options = 2};
    static const char *const lines[] = {
        "#SBATCH --job-name=my-sweep-1",
        "#SBATCH --array=0-7%3",
        "#SBATCH --cpus-per-task=2",
        "#SBATCH --mem=513M",
        "#SBATCH --time=40",
        "#SBATCH --requeue",
        "#SBATCH --open-mode=append",
        "#SBATCH --signal=B:TERM@60",
        "#SBATCH \"--partition=short\"",
        "#SBATCH \"--comment=a \\\"b\\\" \\\\c\""};
    const char *text;

    ck_assert_int_eq(slurm_write(dir, &p, a, &err), VPU_OK);
    ck_assert(slurm_is_written(dir, a));
    text = content("slurm/array.sh");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        ck_assert_msg(has_line(text, lines[i]), "%s: %s", lines[i], text);
    ck_assert(strstr(text, "\"$SLURM_ARRAY_TASK_ID/8\"") != NULL);
    text = content("slurm/gather.sh");
    ck_assert(has_line(text, lines[8]) && has_line(text, lines[9]));
    ck_assert(!strstr(text, "--array"));
}
END_TEST

START_TEST(what_a_plan_leaves_open_has_no_line)
{
    slurm_plan p = {.name = "s", .n_tasks = 1, .n_cpus = 1};
    str text = {.arena = a};

    slurm_array_script(&p, &text);
    ck_assert(has_line(text.data, "#SBATCH --array=0-0"));
    ck_assert(!strstr(text.data, "--mem") && !strstr(text.data, "--time"));
}
END_TEST

/* The script runs without Slurm, too: what it starts gets its part. */
START_TEST(the_script_starts_the_program_of_the_folder)
{
    slurm_plan p = {.name = "s", .n_tasks = 8, .n_cpus = 1};
    char *words[] = {"sh", "slurm/array.sh", NULL}, *out;
    static const char fake[] =
        "#!/bin/sh\necho \"$@\"; ls -ld \"$XDG_CACHE_HOME\"\n";

    ck_assert_int_eq(slurm_write(dir, &p, a, &err), VPU_OK);
    ck_assert_int_eq(
        file_write(file_join(a, dir, "program"), fake, sizeof fake - 1, &err),
        VPU_OK);
    ck_assert_int_eq(chmod(file_join(a, dir, "program"), 0755), 0);
    setenv("SLURM_ARRAY_TASK_ID", "5", 1);
    setenv("SLURM_CPUS_PER_TASK", "3", 1);
    setenv("TMPDIR", dir, 1);
    ck_assert_int_eq(slurm_ask(words, dir, 20, a, &out, &err), VPU_OK);
    ck_assert_msg(strstr(out, "sweep work . --part 5/8 --jobs 3\n") == out,
                  "%s", out);
    ck_assert_msg(strstr(out, "drwx------") != NULL, "%s", out);
    ck_assert_ptr_nonnull(strstr(out, dir)); /* the cache is in TMPDIR */
}
END_TEST

START_TEST(no_option_breaks_its_line)
{
    char *options[] = {"--x", "--comment=a\nrm"};
    slurm_plan p = {.name = "s",
                    .n_tasks = 1,
                    .n_cpus = 1,
                    .options = options,
                    .n_options = 2};

    expect(slurm_write(dir, &p, a, &err), VPU_ERR_INVALID, "option 2");
    ck_assert(!slurm_is_written(dir, a));
}
END_TEST

START_TEST(parts_as_ranges)
{
    static const struct {
        const char *members, *text;
    } rows[] = {{"0", ""},
                {"1", "0"},
                {"11", "0-1"},
                {"1011", "0,2-3"},
                {"01110101", "1-3,5,7"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t n = (uint32_t)strlen(rows[i].members);
        bool *wanted = arena_array(a, bool, n);
        str out = {.arena = a};

        for (uint32_t k = 0; k < n; k++)
            wanted[k] = rows[i].members[k] == '1';
        slurm_parts(wanted, n, &out);
        ck_assert_str_eq(str_text(&out), rows[i].text);
    }
}
END_TEST

/* --- submission ------------------------------------------------------------ */

/* Numbers as sbatch gives them, one more each time; its words go to a log. */
static const char good_sbatch[] =
    "n=$(cat n 2>/dev/null || echo 40); n=$((n + 1)); echo $n >n\n"
    "echo \"$@\" >>log; echo $n";

static slurm_plan plan = {.name = "s", .n_tasks = 8, .n_cpus = 1};

static vpu_status submit(const char *parts, slurm_submission *out)
{
    char *options[] = {"--partition=short"};
    slurm_order o = {.dir = dir,
                     .parts = parts,
                     .plan = &plan,
                     .options = options,
                     .n_options = 1};

    return slurm_submit(&o, a, out, &err);
}

START_TEST(both_jobs_are_submitted_and_recorded)
{
    slurm_submission s;
    slurm_record r;
    slurm_plan back;

    program("sbatch", good_sbatch);
    plan.at_once = 2;
    ck_assert_int_eq(slurm_write(dir, &plan, a, &err), VPU_OK);
    ck_assert_int_eq(slurm_read_plan(dir, a, &back, &err), VPU_OK);
    ck_assert_uint_eq(back.n_tasks, 8);
    ck_assert_uint_eq(back.at_once, 2);
    ck_assert_int_eq(submit("0-7", &s), VPU_OK);
    ck_assert_int_eq(submit("2,5", &s), VPU_OK);
    ck_assert_str_eq(
        content("log"),
        arena_printf(
            a,
            "--parsable --partition=short --chdir=%s --array=0-7%%2 "
            "slurm/array.sh\n"
            "--parsable --partition=short --chdir=%s --dependency=afterany:41 "
            "slurm/gather.sh\n"
            "--parsable --partition=short --chdir=%s --array=2,5%%2 "
            "slurm/array.sh\n"
            "--parsable --partition=short --chdir=%s --dependency=afterany:43 "
            "slurm/gather.sh\n",
            dir, dir, dir, dir));
    ck_assert_int_eq(slurm_record_read(dir, a, &r, &err), VPU_OK);
    ck_assert_uint_eq(r.n, 2);
    ck_assert_uint_eq(r.items[1].array, 43);
    ck_assert_uint_eq(r.items[1].gather, 44);
    ck_assert_uint_eq(r.items[1].n_tasks, 8);
    ck_assert_str_eq(r.items[1].parts, "2,5");
}
END_TEST

START_TEST(no_sbatch_is_said)
{
    slurm_submission s;

    setenv("PATH", file_join(a, dir, "bin"), 1);
    expect(submit("0", &s), VPU_ERR_IO, "sbatch: not in PATH");
}
END_TEST

static const struct {
    const char *sbatch, *words;
} refusals[] = {
    {"echo 'sbatch: error: first' >&2\n"
     "echo 'sbatch: error: Batch job submission failed: no such partition' "
     ">&2\nexit 1",
     "sbatch: Batch job submission failed: no such partition"},
    {"exit 1", "sbatch: it said nothing"},
    {"echo hello", "it printed 'hello"},
    {"echo 0", "expected a job's number"},
    {"kill -9 $$", "signal 9"}};

START_TEST(a_refusal_in_its_own_words)
{
    slurm_submission s;
    slurm_record r;

    program("sbatch", refusals[_i].sbatch);
    expect(submit("0", &s), VPU_ERR_IO, refusals[_i].words);
    ck_assert_int_eq(slurm_record_read(dir, a, &r, &err), VPU_OK);
    ck_assert_uint_eq(r.n, 0);
}
END_TEST

/* The array job is there then: it is recorded, so that status counts it. */
START_TEST(a_refused_gather_job_is_said)
{
    slurm_submission s;
    slurm_record r;

    program("sbatch", "case \"$*\" in *gather*) echo 'sbatch: error: full' >&2;"
                      " exit 1;; esac\necho '41;cluster2'");
    expect(submit("0-7", &s), VPU_ERR_IO,
           "array job 41 is submitted, and goes on without the job that "
           "gathers; scancel 41 ends it: sbatch: full");
    ck_assert_int_eq(slurm_record_read(dir, a, &r, &err), VPU_OK);
    ck_assert_uint_eq(r.n, 1);
    ck_assert_uint_eq(r.items[0].gather, 0);
}
END_TEST

static const struct {
    const char *text, *words;
} bad_records[] = {
    {"", "damaged, remove it"},
    {"[]", "array submissions"},
    {"{\"submissions\": [{\"array\": 1, \"gather\": 2, \"tasks\": 0, "
     "\"parts\": \"0\"}]}",
     "submission 1"},
    {"{\"submissions\": [{\"array\": -1, \"gather\": 2, \"tasks\": 1, "
     "\"parts\": \"0\"}]}",
     "submission 1"},
    {"{\"submissions\": [{\"array\": 1, \"gather\": 2, \"tasks\": 1, "
     "\"parts\": \"0; rm\"}]}",
     "submission 1"},
    {"{\"submissions\": [{\"array\": 1, \"gather\": 2, \"tasks\": 1001, "
     "\"parts\": \"0\"}]}",
     "submission 1"}};

START_TEST(a_damaged_record_is_refused)
{
    const char *text = bad_records[_i].text;
    slurm_record r;

    expect(
        slurm_record_parse(&(const file_bytes){text, strlen(text), "jobs.json"},
                           a, &r, &err),
        VPU_ERR_PARSE, bad_records[_i].words);
    ck_assert_msg(strstr(err.msg, "jobs.json") == err.msg, "%s", err.msg);
}
END_TEST

START_TEST(a_damaged_plan_is_refused)
{
    static const char *const texts[] = {"", "{}", "{\"tasks\": 0}",
                                        "{\"tasks\": 1001, \"at_once\": 0}",
                                        "{\"tasks\": 2, \"at_once\": -1}"};
    slurm_plan p;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect(slurm_plan_parse(
                   &(const file_bytes){texts[i], strlen(texts[i]), "plan"}, &p,
                   &err),
               VPU_ERR_PARSE, "plan");
}
END_TEST

/* --- squeue --------------------------------------------------------------- */

static const struct {
    const char *line;
    int task;
    slurm_stage stage;
    const char *reason, *nodes;
} lines[] = {
    {"5_3|RUNNING|None|n1", 3, SLURM_RUNNING, "", "n1"},
    {"5_3|COMPLETING|None|n1", 3, SLURM_RUNNING, "", "n1"},
    {"5|PENDING|Dependency|", -1, SLURM_WAITING, "Dependency", ""},
    {"5_0|PENDING|Resources|", 0, SLURM_WAITING, "Resources", ""},
    {"5_0|PENDING|JobHeldUser|", 0, SLURM_HELD, "JobHeldUser", ""},
    {"5_0|PENDING|JobHeldAdmin|", 0, SLURM_HELD, "JobHeldAdmin", ""},
    {"5_1|PENDING|launch failed requeued held|", 1, SLURM_HELD,
     "launch failed requeued held", ""},
    {"5_1|REQUEUE_HOLD|a|b|n[1-4]", 1, SLURM_HELD, "a|b", "n[1-4]"},
    {"5_1|NODE_FAIL|None|n1", 1, SLURM_ENDED, "", "n1"},
    {"5_1|OUT_OF_MEMORY|OutOfMemory|n1", 1, SLURM_ENDED, "OutOfMemory", "n1"},
    {"5_1|COMPLETED|None|n1", 1, SLURM_ENDED, "", "n1"}};

static vpu_status parse_tasks(const char *text, slurm_tasks *out)
{
    return slurm_tasks_parse(&(const file_bytes){text, strlen(text), "squeue"},
                             a, out, &err);
}

START_TEST(what_a_line_of_squeue_means)
{
    const slurm_submission s = {.array = 5, .gather = 5};
    slurm_tasks t;

    ck_assert_int_eq(parse_tasks(lines[_i].line, &t), VPU_OK);
    ck_assert_uint_eq(t.n, 1);
    ck_assert_uint_eq(t.items[0].job, 5);
    ck_assert_int_eq((int)t.items[0].task, lines[_i].task);
    ck_assert_int_eq(t.items[0].stage, lines[_i].stage);
    ck_assert_str_eq(t.items[0].reason, lines[_i].reason);
    ck_assert_str_eq(t.items[0].nodes, lines[_i].nodes);
    ck_assert_int_eq(slurm_stage_of(&t, &s, lines[_i].task), lines[_i].stage);
    ck_assert_int_eq(slurm_stage_of(&t, &s, 9), SLURM_GONE);
}
END_TEST

START_TEST(a_line_that_is_none)
{
    static const char *const texts[] = {
        "x|RUNNING|None|n1", "5_[1-3]|PENDING|None|", "5|RUNNING", "0|A|B|C",
        "5||None|n1",        "5_x|RUNNING|None|n1"};
    slurm_tasks t;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect(parse_tasks(
                   arena_printf(a, "5|RUNNING|None|n1\n\n%s\n", texts[i]), &t),
               VPU_ERR_PARSE, "squeue:3: error: found ");
}
END_TEST

START_TEST(squeue_is_asked_about_all_jobs)
{
    const uint64_t jobs[] = {5, 6};
    slurm_tasks t;

    program("squeue",
            "case \"$*\" in *--jobs=5,6*) ;; *) exit 1;; esac\n"
            "echo '5_0|RUNNING|None|n1'; echo '6|PENDING|Dependency|'");
    ck_assert_int_eq(slurm_tasks_ask(jobs, 2, a, &t, &err), VPU_OK);
    ck_assert_uint_eq(t.n, 2);
    program("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' "
                      ">&2; exit 1");
    ck_assert_int_eq(slurm_tasks_ask(jobs, 1, a, &t, &err), VPU_OK);
    ck_assert_uint_eq(t.n, 0);
    program("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm "
                      "controller' >&2; exit 1");
    expect(slurm_tasks_ask(jobs, 1, a, &t, &err), VPU_ERR_IO,
           "squeue: slurm_load_jobs error: Unable to contact");
}
END_TEST

static TCase *cases(const char *name)
{
    TCase *t = tcase_create(name);

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    return t;
}

static TCase *scripts(void)
{
    TCase *t = cases("scripts");

    tcase_add_test(t, a_script_has_what_the_plan_says);
    tcase_add_test(t, what_a_plan_leaves_open_has_no_line);
    tcase_add_test(t, the_script_starts_the_program_of_the_folder);
    tcase_add_test(t, no_option_breaks_its_line);
    tcase_add_test(t, parts_as_ranges);
    return t;
}

static TCase *submissions(void)
{
    TCase *t = cases("submissions");

    tcase_add_test(t, both_jobs_are_submitted_and_recorded);
    tcase_add_test(t, no_sbatch_is_said);
    tcase_add_loop_test(t, a_refusal_in_its_own_words, 0,
                        sizeof refusals / sizeof *refusals);
    tcase_add_test(t, a_refused_gather_job_is_said);
    tcase_add_loop_test(t, a_damaged_record_is_refused, 0,
                        sizeof bad_records / sizeof *bad_records);
    tcase_add_test(t, a_damaged_plan_is_refused);
    return t;
}

static TCase *queue(void)
{
    TCase *t = cases("squeue");

    tcase_add_loop_test(t, what_a_line_of_squeue_means, 0,
                        sizeof lines / sizeof *lines);
    tcase_add_test(t, a_line_that_is_none);
    tcase_add_test(t, squeue_is_asked_about_all_jobs);
    return t;
}

int main(void)
{
    Suite *s = suite_create("sweeps on Slurm");
    SRunner *r;
    int failed;

    suite_add_tcase(s, scripts());
    suite_add_tcase(s, submissions());
    suite_add_tcase(s, queue());
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
