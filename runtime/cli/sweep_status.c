/* vpu sweep status: points that are done, and jobs that are not. */
#include <inttypes.h>
#include <string.h>

#include "runtime/cli/sweep_slurm.h"
#include "runtime/sweep/rounds.h"

enum { MAX_SHOWN = 10 };

typedef struct {
    arena *a;
    bool json;
    cli_sweep_view sweep;
    bool has_slurm;                 /* it has answered */
    const char *why_not;            /* "" = nothing was submitted */
    uint64_t ahead[SLURM_N_STAGES]; /* points by what their task does */
} session;

/* --- shared ----------------------------------------------------------------- */

vpu_status cli_sweep_open(cli_sweep_view *s, bool extend, arena *a,
                          vpu_error *err)
{
    bool more = false;
    vpu_status st = sweep_store_open(s->given, a, &s->store, err);

    if (!st && extend)
        st = sweep_rounds_extend(&s->store, &more, err);
    return st ? st : sweep_status_read(&s->store, a, &s->points, err);
}

vpu_status cli_sweep_ask(cli_sweep_view *s, arena *a, vpu_error *err)
{
    uint64_t *jobs = arena_array(a, uint64_t, 2 * s->record.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < s->record.n; i++) {
        jobs[n++] = s->record.items[i].array;
        if (s->record.items[i].gather)
            jobs[n++] = s->record.items[i].gather;
    }
    return slurm_tasks_ask(jobs, n, a, &s->tasks, err);
}

int cli_sweep_take(const cli_command *c, const options_line *line,
                   cli_sweep_view *s)
{
    if (line->n_words != 1)
        return cli_usage(c,
                         "%s; expected the folder of one sweep, which vpu "
                         "sweep plan makes",
                         line->n_words ? "too many words" : "no folder");
    s->given = line->words[0];
    return CLI_OK;
}

/* --- what it says ------------------------------------------------------------ */

static const char *const stage_names[SLURM_N_STAGES] = {
    [SLURM_GONE] = "gone",
    [SLURM_ENDED] = "ended",
    [SLURM_HELD] = "held",
    [SLURM_WAITING] = "waiting",
    [SLURM_RUNNING] = "running"};

static bool is_completed(const slurm_task *t)
{
    return !strcmp(t->state, "COMPLETED");
}

/* ", 3 waiting (Resources …)", where there are any. about: of one of them. */
static void add_count(str *out, uint64_t n, const char *name, const char *about)
{
    if (!n)
        return;
    str_printf(out, "%s %" PRIu64 " %s",
               str_text(out)[out->n - 1] == ':' ? "" : ",", n, name);
    if (*about)
        str_printf(out, " (%s%s)", about, n > 1 ? " \u2026" : "");
}

/* "FAILED: NonZeroExitCode". */
static const char *how_ended(const session *s, const slurm_task *t)
{
    return *t->reason ? arena_printf(s->a, "%s: %s", t->state, t->reason)
                      : t->state;
}

/* "2 running (n1), 3 waiting (Resources), 4 completed, 1 ended (TIMEOUT: …)".
 */
static void add_stages(const session *s, uint64_t id, str *out)
{
    uint64_t n[SLURM_N_STAGES] = {0}, completed = 0;
    const slurm_task *of[SLURM_N_STAGES] = {0};
    size_t begin = out->n;

    for (size_t i = 0; i < s->sweep.tasks.n; i++) {
        const slurm_task *t = &s->sweep.tasks.items[i];

        if (t->job != id)
            continue;
        if (is_completed(t)) {
            completed++;
            continue;
        }
        n[t->stage]++;
        of[t->stage] = t;
    }
    for (int k = SLURM_RUNNING; k > SLURM_ENDED; k--)
        add_count(out, n[k], stage_names[k],
                  !n[k]                ? ""
                  : k == SLURM_RUNNING ? of[k]->nodes
                                       : of[k]->reason);
    add_count(out, completed, "completed", "");
    add_count(out, n[SLURM_ENDED], "ended",
              n[SLURM_ENDED] ? how_ended(s, of[SLURM_ENDED]) : "");
    if (out->n == begin)
        str_puts(out, " ended, and forgotten by Slurm");
    str_puts(out, "\n");
}

static void add_held(const session *s, str *out)
{
    for (size_t i = 0, n = 0; i < s->sweep.tasks.n; i++) {
        const slurm_task *t = &s->sweep.tasks.items[i];
        str id = {.arena = s->a};

        if (t->stage != SLURM_HELD || n++ == MAX_SHOWN)
            continue;
        str_printf(&id, "%" PRIu64, t->job);
        if (t->task >= 0)
            str_printf(&id, "_%" PRId64, t->task);
        str_printf(out,
                   "  job %s is held: %s; scontrol release %s lets it begin, "
                   "once the reason is gone\n",
                   id.data, *t->reason ? t->reason : t->state, id.data);
    }
}

static void add_jobs(const session *s, str *out)
{
    if (!s->has_slurm) {
        if (*s->why_not)
            str_printf(out, "jobs: not known: %s\n", s->why_not);
        return;
    }
    for (size_t k = 0; k < s->sweep.record.n; k++) {
        const slurm_submission *sub = &s->sweep.record.items[k];

        str_printf(out, "array job %" PRIu64 ", tasks %s of %" PRIu32 ":",
                   sub->array, sub->parts, sub->n_tasks);
        add_stages(s, sub->array, out);
        if (sub->gather) {
            str_printf(out, "gather job %" PRIu64 ":", sub->gather);
            add_stages(s, sub->gather, out);
        }
    }
    add_held(s, out);
}

/* Of each the first line; gather has the rest. */
static void add_failures(const session *s, str *out)
{
    const sweep_status *p = &s->sweep.points;

    for (size_t i = 0; i < p->n_failures && i < MAX_SHOWN; i++) {
        const char *why = p->failures[i].why;

        str_printf(out, "  point %" PRIu64 " failed: %.*s\n",
                   p->failures[i].number, (int)strcspn(why, "\n"), why);
    }
    if (p->n_failures > MAX_SHOWN)
        str_printf(out, "  and %zu more\n", p->n_failures - MAX_SHOWN);
}

static void add_points(const session *s, str *out)
{
    uint64_t missing = s->sweep.points.n - s->sweep.points.n_done;

    str_printf(out,
               "%" PRIu64 " points: %" PRIu64 " have results, %" PRIu64
               " have none, of which %zu failed at the last try\n",
               s->sweep.points.n, s->sweep.points.n_done, missing,
               s->sweep.points.n_failures);
    if (s->sweep.points.n_later)
        str_printf(out,
                   "%" PRIu64 " more of later rounds; vpu sweep submit and vpu "
                   "sweep run plan the next one when all these have results\n",
                   s->sweep.points.n_later);
    if (s->has_slurm && missing)
        str_printf(out,
                   "without a result: %" PRIu64 " in running tasks, %" PRIu64
                   " in waiting, %" PRIu64 " in held, %" PRIu64 " in none\n",
                   s->ahead[SLURM_RUNNING], s->ahead[SLURM_WAITING],
                   s->ahead[SLURM_HELD],
                   s->ahead[SLURM_ENDED] + s->ahead[SLURM_GONE]);
}

static json_t *json_tasks(const session *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->sweep.tasks.n; i++) {
        const slurm_task *t = &s->sweep.tasks.items[i];

        json_array_append_new(
            list,
            json_pack("{s:I, s:I, s:s, s:o, s:o, s:o}", "job",
                      (json_int_t)t->job, "task", (json_int_t)t->task, "stage",
                      stage_names[t->stage], "state", jsontext_string(t->state),
                      "reason", jsontext_string(t->reason), "nodes",
                      jsontext_string(t->nodes)));
    }
    return list;
}

static json_t *json_failures(const session *s)
{
    const sweep_status *p = &s->sweep.points;
    json_t *list = json_array();

    for (size_t i = 0; i < p->n_failures; i++)
        json_array_append_new(
            list,
            json_pack("{s:I, s:o}", "point", (json_int_t)p->failures[i].number,
                      "why", jsontext_string(p->failures[i].why)));
    return list;
}

static json_t *json_ahead(const session *s)
{
    json_t *of = s->has_slurm ? json_object() : json_null();

    for (int k = 0; k < SLURM_N_STAGES && s->has_slurm; k++)
        json_object_set_new(of, stage_names[k],
                            json_integer((json_int_t)s->ahead[k]));
    return of;
}

static void say_json(const session *s)
{
    cli_put_json(json_pack("{s:I, s:I, s:I, s:o, s:b, s:o, s:o}", "points",
                           (json_int_t)s->sweep.points.n, "later",
                           (json_int_t)s->sweep.points.n_later, "done",
                           (json_int_t)s->sweep.points.n_done, "failed",
                           json_failures(s), "slurm", s->has_slurm,
                           "missing_by_stage", json_ahead(s), "tasks",
                           json_tasks(s)),
                 JSONTEXT_EXACT);
}

static void say_text(const session *s)
{
    str text = {0};

    add_points(s, &text);
    add_failures(s, &text);
    add_jobs(s, &text);
    cli_put_shown(stdout, str_text(&text), text.n);
    str_free(&text);
}

/* Slurm's answer, where there is one: without it the files still count. */
static vpu_status look(session *s, vpu_error *err)
{
    vpu_error why = {0};
    vpu_status st = cli_sweep_open(&s->sweep, false, s->a, err);

    if (!st)
        st = slurm_record_read(s->sweep.store.dir, s->a, &s->sweep.record, err);
    if (st || !s->sweep.record.n)
        return st;
    s->has_slurm = !cli_sweep_ask(&s->sweep, s->a, &why);
    if (s->has_slurm)
        sweep_status_outlook(&s->sweep.points, &s->sweep.record,
                             &s->sweep.tasks, s->a, s->ahead);
    else
        s->why_not = arena_strdup(s->a, why.msg);
    return VPU_OK;
}

static const cli_option status_rows[] = {
    {"json", NULL, OPTION_FLAG, 0, .help = "the answer as JSON"}};
static const cli_options status_own = CLI_OPTIONS(status_rows);
static const cli_table status_tables[] = {{&status_own, 0}};

static int parse(int argc, char **argv, session *s)
{
    options_line line = {.argc = argc, .argv = argv};
    int rc = cli_parse(&cli_sweep_status, &s->json, &line, s->a);

    return rc ? rc : cli_sweep_take(&cli_sweep_status, &line, &s->sweep);
}

static int status_main(int argc, char **argv)
{
    session s = {.a = arena_create(0), .why_not = ""};
    vpu_error err = {0};
    int rc = parse(argc, argv, &s);

    if (!rc && look(&s, &err)) {
        rc = cli_fail(&err);
    } else if (!rc) {
        (s.json ? say_json : say_text)(&s);
        rc = s.sweep.points.n_done < s.sweep.points.n || s.sweep.points.n_later
                 ? CLI_DIFFERS
                 : CLI_OK;
    }
    arena_destroy(s.a);
    return rc;
}

const cli_command cli_sweep_status = {
    .name = "sweep status",
    .summary = "tell what is done of a sweep, and what its jobs do",
    .head =
        "usage: vpu sweep status DIR [OPTIONS]\n\n"
        "Counts the points that have results and those that failed, and, where squeue\n"
        "answers, in which tasks the others are; names jobs that are held. Needs neither\n"
        "accounting nor, for a sweep computed here, Slurm.\n\n",
    .tables = status_tables,
    .n_tables = 1,
    .tail =
        "\n"
        "Exit status: 0 all points have results, 1 some have none, 2 an error.\n",
    .main = status_main};
