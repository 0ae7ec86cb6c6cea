/* vpu sweep slurm and vpu sweep submit: a sweep on a cluster. */
#include "runtime/cli/sweep_slurm.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/file.h"
#include "runtime/suite/jobs.h"
#include "runtime/sweep/slurm.h"

typedef struct {
    uint32_t n_tasks, at_once, n_cpus;
    double task_seconds;
    bool replace, again, wait;
} slurm_options;

enum {
    PILOT_POINTS = 4,
    PILOT_SECONDS = 60,
    TASK_SECONDS = 600,
    MAX_PAUSE = 15,   /* seconds between two questions to squeue */
    MAX_FAILURES = 20 /* of squeue in a row */
};

typedef struct {
    arena *a;
    slurm_options o;
    cli_sweep_view sweep;
    char **words; /* for sbatch */
    size_t n_words;
} session;

static uint64_t n_missing(const session *s)
{
    return s->sweep.points.n - s->sweep.points.n_done;
}

static void say(str *text)
{
    cli_put_shown(stdout, str_text(text), text->n);
    str_free(text);
}

/* --- the plan -------------------------------------------------------------- */

/* A few points, computed here: their results stay, as all results do. */
typedef struct {
    uint64_t n;     /* that ended */
    double seconds; /* for all */
    uint64_t bytes; /* of memory, at most at a time */
    bool late;      /* stopped before all were done */
} pilot;

/* The part that has most to do: when all is new, the first. */
static uint64_t pilot_part(const session *s, uint64_t n_parts)
{
    uint64_t best = 0;

    for (uint64_t i = 1; i < n_parts && i < SLURM_MAX_TASKS; i++)
        if (sweep_status_missing(&s->sweep.points, i, n_parts) >
            sweep_status_missing(&s->sweep.points, best, n_parts))
            best = i;
    return best;
}

static vpu_status pilot_run(session *s, uint64_t part, uint64_t n_parts, job *j,
                            vpu_error *err)
{
    char *words[] = {file_join(s->a, s->sweep.store.dir, "program"),
                     arena_strdup(s->a, "sweep"),
                     arena_strdup(s->a, "work"),
                     arena_strdup(s->a, s->sweep.store.dir),
                     arena_strdup(s->a, "--part"),
                     arena_printf(s->a, "%" PRIu64 "/%" PRIu64, part, n_parts),
                     arena_strdup(s->a, "--jobs=1"),
                     NULL};
    vpu_status st;

    *j = (job){.argv = words, .dir = s->sweep.store.dir};
    atomic_fetch_add(&cli_sessions, 1); /* a signal ends it in order */
    st = jobs_run(j, 1,
                  &(const jobs_config){.n_parallel = 1,
                                       .timeout_s = PILOT_SECONDS,
                                       .stop = &cli_stop},
                  err);
    atomic_fetch_sub(&cli_sessions, 1);
    if (!st && j->interrupted)
        st = err_set(err, VPU_ERR_STOPPED, "interrupted");
    j->argv = NULL;
    return st;
}

/* Points of the pilot's part that were tried: all of them unless time ran out.
 */
static uint64_t tried(const session *s, const sweep_status *before,
                      uint64_t missing, const job *j)
{
    const sweep_status *now = &s->sweep.points;

    if (!j->timed_out)
        return j->exit_status == CLI_OK || j->exit_status == CLI_DIFFERS
                   ? missing
                   : 0;
    return now->n_done - before->n_done +
           (now->n_failures > before->n_failures
                ? now->n_failures - before->n_failures
                : 0);
}

static vpu_status pilot_fly(session *s, pilot *out, vpu_error *err)
{
    const sweep_status before = s->sweep.points;
    uint64_t n_parts = (before.n + PILOT_POINTS - 1) / PILOT_POINTS;
    uint64_t part = pilot_part(s, n_parts);
    uint64_t missing = sweep_status_missing(&before, part, n_parts);
    struct rusage use;
    job j = {0};
    vpu_status st = pilot_run(s, part, n_parts, &j, err);

    if (!st)
        st = sweep_status_read(&s->sweep.store, s->a, &s->sweep.points, err);
    getrusage(RUSAGE_CHILDREN, &use);
    *out = (pilot){.n = tried(s, &before, missing, &j),
                   .seconds = j.seconds,
                   .bytes = (uint64_t)use.ru_maxrss << 10,
                   .late = j.timed_out};
    if (!st && !out->n && !j.timed_out)
        st = err_set(err, VPU_ERR_IO,
                     "the pilot, `vpu sweep work %s --part %" PRIu64 "/%" PRIu64
                     "`, failed: %.400s; --tasks N does without it",
                     s->sweep.given, part, n_parts,
                     j.errors.n ? str_text(&j.errors) : "it said nothing");
    job_free(&j);
    return st;
}

/* As many tasks as their time asks for, and what one of them needs: twice the
 * pilot's memory, four times its time, since other points may be larger. */
static void plan_from(const session *s, const pilot *p, slurm_plan *plan)
{
    enum { STEP = 256 << 20, LEAST_MINUTES = 10, MOST_MINUTES = 1 << 24 };
    uint64_t missing = n_missing(s);
    double each = p->n ? p->seconds / (double)p->n : s->o.task_seconds;
    double tasks = (double)missing * each / plan->n_cpus / s->o.task_seconds;
    uint64_t most = missing < SLURM_MAX_TASKS ? missing : SLURM_MAX_TASKS;
    double minutes;

    if (tasks > (double)most)
        tasks = (double)most;
    plan->n_tasks = tasks > 1 ? (uint32_t)ceil(tasks) : 1;
    plan->bytes = (2 * p->bytes * plan->n_cpus + STEP) / STEP * STEP;
    minutes = LEAST_MINUTES +
              4 * (double)missing * each / plan->n_cpus / plan->n_tasks / 60;
    if (p->n && minutes < MOST_MINUTES)
        plan->minutes = (uint32_t)minutes + 1;
}

static const char *name_of(const session *s)
{
    const char *last = strrchr(s->sweep.store.dir, '/');

    return last && last[1] ? last + 1 : s->sweep.store.dir;
}

static bool say_complete(const session *s)
{
    str text = {0};

    if (n_missing(s))
        return false;
    if (s->sweep.points.n_later)
        str_printf(&text,
                   "all %" PRIu64 " points of the rounds so far have results; "
                   "vpu sweep submit %s goes on\n",
                   s->sweep.points.n, s->sweep.given);
    else
        str_printf(&text,
                   "all %" PRIu64 " points have results; vpu sweep gather %s "
                   "makes the table\n",
                   s->sweep.points.n, s->sweep.given);
    say(&text);
    return true;
}

static vpu_status plan_by_pilot(session *s, slurm_plan *plan, vpu_error *err)
{
    pilot p;
    str text = {0};
    vpu_status st = pilot_fly(s, &p, err);

    if (st)
        return st;
    plan_from(s, &p, plan);
    str_printf(&text,
               "pilot: %" PRIu64 " points in %.2f s%s, %" PRIu64
               " MiB of memory at most\n",
               p.n, p.seconds, p.late ? ", then stopped" : "", p.bytes >> 20);
    say(&text);
    return VPU_OK;
}

/* With the first n of the words for sbatch. Writes nothing when the pilot
 * leaves nothing to compute. */
static vpu_status write_scripts(session *s, size_t n, vpu_error *err)
{
    slurm_plan plan = {.name = name_of(s),
                       .n_tasks = s->o.n_tasks,
                       .at_once = s->o.at_once,
                       .n_cpus = s->o.n_cpus,
                       .options = s->words,
                       .n_options = n};
    str text = {0};
    vpu_status st = plan.n_tasks ? VPU_OK : plan_by_pilot(s, &plan, err);

    if (st || !n_missing(s))
        return st;
    st = slurm_write(s->sweep.store.dir, &plan, s->a, err);
    if (st)
        return st;
    str_printf(&text,
               "%s/slurm/array.sh: %" PRIu32 " task%s for %" PRIu64
               " point%s\n%s/slurm/gather.sh: the table\n",
               s->sweep.given, plan.n_tasks, plan.n_tasks == 1 ? "" : "s",
               n_missing(s), n_missing(s) == 1 ? "" : "s", s->sweep.given);
    say(&text);
    return VPU_OK;
}

/* --- vpu sweep slurm --------------------------------------------------------- */

static vpu_status slurm_run(session *s, int *rc, vpu_error *err)
{
    vpu_status st = cli_sweep_open(&s->sweep, true, s->a, err);

    *rc = CLI_OK;
    if (st || say_complete(s))
        return st;
    if (slurm_is_written(s->sweep.store.dir, s->a) && !s->o.replace)
        return err_set(err, VPU_ERR_INVALID,
                       "%s/slurm: its scripts are written already, and may "
                       "have been changed; --replace writes them anew",
                       s->sweep.given);
    st = write_scripts(s, s->n_words, err);
    if (!st)
        say_complete(s);
    return st;
}

/* --- vpu sweep submit ------------------------------------------------------- */

static bool is_at_work(const session *s, const slurm_submission *sub)
{
    for (size_t i = 0; i < s->sweep.tasks.n; i++) {
        const slurm_task *t = &s->sweep.tasks.items[i];

        if (t->stage > SLURM_ENDED &&
            (t->job == sub->array || t->job == sub->gather))
            return true;
    }
    return false;
}

/* Two jobs for one point are harmless, but a waste. */
static vpu_status check_idle(session *s, vpu_error *err)
{
    vpu_status st =
        slurm_record_read(s->sweep.store.dir, s->a, &s->sweep.record, err);

    if (!st && s->sweep.record.n)
        st = cli_sweep_ask(&s->sweep, s->a, err);
    for (size_t i = 0; i < s->sweep.record.n && !st && !s->o.again; i++) {
        const slurm_submission *sub = &s->sweep.record.items[i];

        if (is_at_work(s, sub))
            st = err_set(err, VPU_ERR_INVALID,
                         "%s: jobs %" PRIu64 " and %" PRIu64 " of this sweep "
                         "have not ended (vpu sweep status %s); wait for them, "
                         "end them by scancel %" PRIu64 " %" PRIu64
                         ", or give --again",
                         s->sweep.given, sub->array, sub->gather,
                         s->sweep.given, sub->array, sub->gather);
    }
    return st;
}

/* The tasks that have points without a result. */
static const char *wanted_parts(const session *s, uint32_t n_tasks)
{
    bool *wanted = arena_array(s->a, bool, n_tasks);
    str text = {.arena = s->a};

    for (uint64_t i = 0; i < s->sweep.points.n; i++)
        wanted[i % n_tasks] |= !s->sweep.points.done[i];
    slurm_parts(wanted, n_tasks, &text);
    return str_text(&text);
}

static vpu_status find_sbatch(session *s, vpu_error *err)
{
    vpu_error why;
    char *path;

    if (!slurm_find("sbatch", s->a, &path, &why))
        return VPU_OK;
    return err_set(err, VPU_ERR_IO,
                   "%s: submit on a login node of a cluster, or compute here: "
                   "vpu sweep run %s",
                   why.msg, s->sweep.given);
}

/* What to do about a refusal; Slurm's own words are in front. */
static vpu_status advise(const session *s, vpu_status st, vpu_error *err)
{
    char *said = arena_strdup(s->a, err->msg);

    return err_set(err, st,
                   "%s; options for sbatch stand behind --, as in vpu sweep "
                   "submit %s -- --partition=NAME, or in %s/slurm/*.sh",
                   said, s->sweep.given, s->sweep.given);
}

static vpu_status hand_in(session *s, slurm_submission *out, vpu_error *err)
{
    slurm_plan plan;
    slurm_order o = {.dir = s->sweep.store.dir,
                     .plan = &plan,
                     .options = s->words,
                     .n_options = s->n_words};
    str text = {0};
    vpu_status st = slurm_read_plan(s->sweep.store.dir, s->a, &plan, err);

    if (st)
        return st;
    o.parts = wanted_parts(s, plan.n_tasks);
    st = slurm_submit(&o, s->a, out, err);
    if (st)
        return advise(s, st, err);
    str_printf(&text,
               "array job %" PRIu64 ": tasks %s of %" PRIu32 ", %" PRIu64
               " points without a result\n"
               "gather job %" PRIu64 ": %s/table.csv, table.json\n",
               out->array, o.parts, plan.n_tasks, n_missing(s), out->gather,
               s->sweep.given);
    say(&text);
    fflush(stdout);
    return VPU_OK;
}

static vpu_status tell_held(session *s, size_t *told, vpu_error *err)
{
    vpu_status st = cli_sweep_ask(&s->sweep, s->a, err);
    log_sink log = cli_log(false);

    for (size_t i = 0; i < s->sweep.tasks.n && !st; i++) {
        const slurm_task *t = &s->sweep.tasks.items[i];

        if (t->stage == SLURM_HELD && !(*told)++)
            log_warn(&log,
                     "a task of job %" PRIu64 " is held (%s) and waits for a "
                     "person: vpu sweep status %s",
                     t->job, t->reason, s->sweep.given);
    }
    return st;
}

/* Until both jobs have ended, asking less and less often. A controller that is
 * busy does not answer now and then. */
static vpu_status wait_for(session *s, const slurm_submission *sub,
                           vpu_error *err)
{
    size_t told = 0;
    unsigned pause = 1, failures = 0;
    vpu_status st;

    s->sweep.record = (slurm_record){.items = (slurm_submission *)sub, .n = 1};
    do {
        nanosleep(&(const struct timespec){.tv_sec = pause}, NULL);
        pause = pause < MAX_PAUSE ? pause + 1 : MAX_PAUSE;
        st = tell_held(s, &told, err);
        failures = st ? failures + 1 : 0;
    } while (st ? failures < MAX_FAILURES : is_at_work(s, sub));
    return st ? st
              : sweep_status_read(&s->sweep.store, s->a, &s->sweep.points, err);
}

/* The jobs' end, as the exit status. */
static vpu_status wait_and_tell(session *s, const slurm_submission *sub,
                                int *rc, vpu_error *err)
{
    str text = {0};
    vpu_status st = wait_for(s, sub, err);

    if (st)
        return st;
    *rc = n_missing(s) || s->sweep.points.n_later ? CLI_DIFFERS : CLI_OK;
    if (say_complete(s))
        return VPU_OK;
    str_printf(&text,
               "%" PRIu64 " of %" PRIu64
               " points have no result; vpu sweep status %s tells why\n",
               n_missing(s), s->sweep.points.n, s->sweep.given);
    say(&text);
    return VPU_OK;
}

static vpu_status submit_run(session *s, int *rc, vpu_error *err)
{
    slurm_submission sub;
    vpu_status st = cli_sweep_open(&s->sweep, true, s->a, err);

    *rc = CLI_OK;
    if (st || say_complete(s))
        return st;
    st = find_sbatch(s, err);
    if (!st)
        st = check_idle(s, err);
    if (!st && !slurm_is_written(s->sweep.store.dir, s->a))
        st = write_scripts(s, 0, err); /* they are for this once */
    if (st || say_complete(s))
        return st;
    st = hand_in(s, &sub, err);
    return st || !s->o.wait ? st : wait_and_tell(s, &sub, rc, err);
}

/* --- options ----------------------------------------------------------------- */

#define AT(field) offsetof(slurm_options, field)

static bool take_task_seconds(void *fields, const char *value, arena *a)
{
    slurm_options *o = fields;
    double x;

    (void)a;
    if (!str_to_f64(value, &x) || !(x >= 1 && x <= 1e6))
        return false;
    o->task_seconds = x;
    return true;
}

static const cli_option slurm_rows[] = {
    {"tasks", "K", OPTION_COUNT, AT(n_tasks), .most = SLURM_MAX_TASKS,
     .help = "tasks of the array job, 1 to 1000, and no pilot: memory and time "
             "are the site's defaults then"},
    {"task-time", "SECONDS", OPTION_OTHER, .take = take_task_seconds,
     .help = "what the pilot makes the number of tasks from: so long shall one "
             "take (default 600)"},
    {"at-once", "M", OPTION_COUNT, AT(at_once),
     .help = "so many tasks run at a time (default: what the site allows)"},
    {"cpus", "N", OPTION_COUNT, AT(n_cpus),
     .help = "processors of each task, which computes so many points side by "
             "side (default 1)"},
    {"replace", NULL, OPTION_FLAG, AT(replace),
     .help = "scripts that are there already are written anew"}};
static const cli_options slurm_own = CLI_OPTIONS(slurm_rows);
static const cli_table slurm_tables[] = {{&slurm_own, 0}};

static const cli_option submit_rows[] = {
    {"wait", NULL, OPTION_FLAG, AT(wait),
     .help = "return when the jobs have ended; the exit status then is 0 when "
             "all points have results, 1 otherwise"},
    {"again", NULL, OPTION_FLAG, AT(again),
     .help = "also while jobs of the sweep have not ended"}};
static const cli_options submit_own = CLI_OPTIONS(submit_rows);
static const cli_table submit_tables[] = {{&submit_own, 0}};

/* --- all of it --------------------------------------------------------------- */

/* What stands behind "--" is for sbatch; the words before it are ours. */
static int split(int argc, char **argv, session *s)
{
    int n = 1;

    while (n < argc && strcmp(argv[n], "--"))
        n++;
    if (n < argc) {
        s->words = argv + n + 1;
        s->n_words = (size_t)(argc - n - 1);
    }
    return n;
}

static int parse(const cli_command *c, int argc, char **argv, session *s)
{
    options_line line = {.argc = split(argc, argv, s)};
    int rc;

    line.argv = arena_array(s->a, char *, (size_t)line.argc + 1);
    memcpy(line.argv, argv, (size_t)line.argc * sizeof *argv);
    s->o = (slurm_options){.n_cpus = 1, .task_seconds = TASK_SECONDS};
    rc = cli_parse(c, &s->o, &line, s->a);
    return rc ? rc : cli_sweep_take(c, &line, &s->sweep);
}

static int command(const cli_command *c, int argc, char **argv,
                   vpu_status (*run)(session *, int *, vpu_error *))
{
    session s = {.a = arena_create(0)};
    vpu_error err = {0};
    int rc = parse(c, argc, argv, &s);

    if (!rc && run(&s, &rc, &err))
        rc = cli_fail(&err);
    arena_destroy(s.a);
    return rc;
}

static int slurm_main(int argc, char **argv)
{
    return command(&cli_sweep_slurm, argc, argv, slurm_run);
}

static int submit_main(int argc, char **argv)
{
    return command(&cli_sweep_submit, argc, argv, submit_run);
}

const cli_command cli_sweep_slurm = {
    .name = "sweep slurm",
    .summary = "write a sweep's scripts for Slurm",
    .head =
        "usage: vpu sweep slurm DIR [OPTIONS] [-- SBATCH-OPTIONS]\n\n"
        "Writes DIR/slurm/array.sh, an array job whose tasks compute the points, and\n"
        "DIR/slurm/gather.sh, a job behind it that makes the table. A pilot computes up to\n"
        "four points here, for a minute at most, and tells how many tasks there shall be\n"
        "and what they need; its results stay. Words behind -- become #SBATCH lines.\n"
        "docs/cluster.md has the rest.\n\n",
    .tables = slurm_tables,
    .n_tables = 1,
    .tail =
        "\n"
        "Exit status: 0 written, or nothing to compute; 2 an error.\n\n"
        "Examples:\n"
        "  vpu sweep slurm sweep1 -- --partition=short --account=compilers\n"
        "  vpu sweep slurm sweep1 --tasks 50 --at-once 20 --replace\n",
    .main = slurm_main};

const cli_command cli_sweep_submit = {
    .name = "sweep submit",
    .summary = "submit a sweep's jobs to Slurm",
    .head =
        "usage: vpu sweep submit DIR [OPTIONS] [-- SBATCH-OPTIONS]\n\n"
        "Submits DIR/slurm/array.sh, for the tasks that have points without a result, and\n"
        "DIR/slurm/gather.sh, which begins when they have ended and whose exit status is\n"
        "the sweep's. Where there are no scripts vpu sweep slurm writes them first. Words\n"
        "behind -- are for sbatch. DIR must have the same name on the cluster's nodes.\n\n",
    .tables = submit_tables,
    .n_tables = 1,
    .tail =
        "\n"
        "Exit status: 0 submitted, or nothing to compute; with --wait 1 when points\n"
        "have no result; 2 an error.\n\n"
        "Example:\n"
        "  vpu sweep submit sweep1 --wait -- --partition=short\n",
    .main = submit_main};
