/* Jobs of Slurm: scripts as text, sbatch as a process, the record as JSON; see
 * slurm.h. */
#include "runtime/sweep/slurm.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/json/jsontext.h"
#include "runtime/suite/jobs.h"

static const char script_of_array[] = "slurm/array.sh",
                  script_of_gather[] = "slurm/gather.sh",
                  file_of_plan[] = "slurm/plan.json",
                  file_of_record[] = "slurm/jobs.json";
/* sbatch waits for a busy controller about as long. */
enum { ASK_SECONDS = 120 };

/* --- scripts -------------------------------------------------------------- */

static void add_name(const char *name, str *out)
{
    for (; *name; name++) {
        bool plain = isalnum((unsigned char)*name) || strchr("._-", *name);

        str_printf(out, "%c", plain ? *name : '-');
    }
}

/* As sbatch splits its lines: double quotes keep blanks, \ escapes. */
static void add_option(const char *word, str *out)
{
    str_puts(out, "#SBATCH \"");
    for (; *word; word++)
        str_printf(out, "%s%c", strchr("\"\\", *word) ? "\\" : "", *word);
    str_puts(out, "\"\n");
}

static void add_options(const slurm_plan *p, str *out)
{
    for (size_t i = 0; i < p->n_options; i++)
        add_option(p->options[i], out);
}

void slurm_array_script(const slurm_plan *p, str *out)
{
    str_printf(out,
               "#!/bin/sh\n"
               "# Task i computes points i, i + %" PRIu32 ", i + %" PRIu32
               " ... of this sweep, those that\n"
               "# have no result yet. vpu sweep slurm wrote this script, vpu "
               "sweep submit hands it\n"
               "# to sbatch, with the sweep's folder as the working folder; "
               "lines may be changed\n"
               "# and added, the number of tasks by --tasks only.\n"
               "#SBATCH --job-name=",
               p->n_tasks, 2 * p->n_tasks);
    add_name(p->name, out);
    str_printf(out, "\n#SBATCH --array=0-%" PRIu32, p->n_tasks - 1);
    if (p->at_once)
        str_printf(out, "%%%" PRIu32, p->at_once);
    str_printf(out, "\n#SBATCH --cpus-per-task=%" PRIu32 "\n", p->n_cpus);
    if (p->bytes)
        str_printf(out, "#SBATCH --mem=%" PRIu64 "M\n",
                   (p->bytes + (1 << 20) - 1) >> 20);
    if (p->minutes)
        str_printf(out, "#SBATCH --time=%" PRIu32 "\n", p->minutes);
    str_puts(out, "#SBATCH --output=logs/%A_%a.log\n"
                  "#SBATCH --open-mode=append\n"
                  "#SBATCH --requeue\n"
                  "#SBATCH --signal=B:TERM@60\n");
    add_options(p, out);
    str_printf(
        out,
        "# Compiled kernels stay on the node: no task waits for a shared "
        "file system.\n"
        "cache=${TMPDIR:-/tmp}/vpusim-$(id -u)\n"
        "mkdir -p -m 700 \"$cache\"\n"
        "export XDG_CACHE_HOME=\"$cache\"\n"
        "# exec: the signal above is for the program, not for the "
        "shell.\n"
        "exec ./program sweep work . --part "
        "\"$SLURM_ARRAY_TASK_ID/%" PRIu32 "\" \\\n"
        "    --jobs \"${SLURM_CPUS_PER_TASK:-%" PRIu32 "}\"\n",
        p->n_tasks, p->n_cpus);
}

void slurm_gather_script(const slurm_plan *p, str *out)
{
    str_puts(out, "#!/bin/sh\n"
                  "# The sweep's table, when all tasks have ended. The exit "
                  "status is that of the\n"
                  "# sweep: not 0 when a point has no result.\n"
                  "#SBATCH --job-name=");
    add_name(p->name, out);
    str_puts(out, "-gather\n"
                  "#SBATCH --output=logs/gather-%j.log\n"
                  "#SBATCH --open-mode=append\n"
                  "#SBATCH --requeue\n");
    add_options(p, out);
    str_puts(out, "exec ./program sweep gather . --csv table.csv "
                  "--json table.json\n");
}

static vpu_status check_options(const slurm_plan *p, vpu_error *err)
{
    for (size_t i = 0; i < p->n_options; i++)
        for (const char *c = p->options[i]; *c; c++)
            if (iscntrl((unsigned char)*c))
                return err_set(err, VPU_ERR_INVALID,
                               "option %zu for sbatch has the control "
                               "character 0x%02x, which no line of a script "
                               "can hold; leave it out",
                               i + 1, (unsigned char)*c);
    return VPU_OK;
}

static vpu_status write_text(const char *dir, const char *name, str *text,
                             arena *a, vpu_error *err)
{
    vpu_status st =
        file_write(file_join(a, dir, name), str_text(text), text->n, err);

    str_free(text);
    return st;
}

static vpu_status write_plan(const char *dir, const slurm_plan *p, arena *a,
                             vpu_error *err)
{
    str text = {0};

    jsontext_add(&text,
                 json_pack("{s:I, s:I}", "tasks", (json_int_t)p->n_tasks,
                           "at_once", (json_int_t)p->at_once),
                 JSONTEXT_EXACT);
    return write_text(dir, file_of_plan, &text, a, err);
}

vpu_status slurm_write(const char *dir, const slurm_plan *p, arena *a,
                       vpu_error *err)
{
    str array = {0}, gather = {0};
    vpu_status st = check_options(p, err);

    if (!st)
        st = file_mkdirs(file_join(a, dir, "slurm"), err);
    if (!st) /* where Slurm puts the output; it makes no folder */
        st = file_mkdirs(file_join(a, dir, "logs"), err);
    if (!st)
        st = write_plan(dir, p, a, err);
    if (st)
        return st;
    slurm_array_script(p, &array);
    slurm_gather_script(p, &gather);
    st = write_text(dir, script_of_gather, &gather, a, err);
    if (!st)
        st = write_text(dir, script_of_array, &array, a, err);
    str_free(&array);
    return st;
}

bool slurm_is_written(const char *dir, arena *a)
{
    return file_exists(file_join(a, dir, script_of_array)) ||
           file_exists(file_join(a, dir, script_of_gather));
}

void slurm_parts(const bool *wanted, uint32_t n, str *out)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = i;

        if (!wanted[i])
            continue;
        while (i + 1 < n && wanted[i + 1])
            i++;
        str_printf(out, "%s%" PRIu32, out->n ? "," : "", first);
        if (i > first)
            str_printf(out, "-%" PRIu32, i);
    }
}

/* --- JSON files ------------------------------------------------------------ */

static vpu_status load(const file_bytes *text, json_t **out, vpu_error *err)
{
    json_error_t why;

    *out = json_loadb(text->data, text->n, JSON_REJECT_DUPLICATES, &why);
    if (*out)
        return VPU_OK;
    return err_at(err, VPU_ERR_PARSE, text->path,
                  why.line > 0 ? (uint32_t)why.line : 0, 0,
                  "%s; the file is damaged, remove it", why.text);
}

/* False: no such member, or another kind or beyond its limits. */
static bool integer(const json_t *o, const char *name, uint64_t least,
                    uint64_t most, uint64_t *out)
{
    const json_t *x = json_object_get(o, name);
    json_int_t v = json_integer_value(x);

    if (!json_is_integer(x) || v < 0 || (uint64_t)v < least ||
        (uint64_t)v > most)
        return false;
    *out = (uint64_t)v;
    return true;
}

vpu_status slurm_plan_parse(const file_bytes *text, slurm_plan *out,
                            vpu_error *err)
{
    uint64_t tasks, at_once;
    json_t *j;
    vpu_status st = load(text, &j, err);

    *out = (slurm_plan){0};
    if (st)
        return st;
    if (integer(j, "tasks", 1, SLURM_MAX_TASKS, &tasks) &&
        integer(j, "at_once", 0, UINT32_MAX, &at_once))
        *out = (slurm_plan){.n_tasks = (uint32_t)tasks,
                            .at_once = (uint32_t)at_once};
    else
        st = err_at(err, VPU_ERR_PARSE, text->path, 0, 0,
                    "expected an object with tasks, 1 to %d, and at_once; vpu "
                    "sweep slurm --replace writes it anew",
                    SLURM_MAX_TASKS);
    json_decref(j);
    return st;
}

vpu_status slurm_read_plan(const char *dir, arena *a, slurm_plan *out,
                           vpu_error *err)
{
    file_bytes text = {.path = file_join(a, dir, file_of_plan)};
    char *data;
    vpu_status st =
        file_read(text.path, SLURM_MAX_BYTES, a, &data, &text.n, err);

    *out = (slurm_plan){0};
    text.data = data;
    return st ? st : slurm_plan_parse(&text, out, err);
}

/* Digits, commas and hyphens: what slurm_parts writes. */
static bool is_parts(const char *text)
{
    return text && *text && !text[strspn(text, "0123456789,-")];
}

static bool take_submission(const json_t *j, arena *a, slurm_submission *out)
{
    const char *parts = json_string_value(json_object_get(j, "parts"));
    uint64_t tasks;

    if (!integer(j, "array", 1, INT64_MAX, &out->array) ||
        !integer(j, "gather", 0, INT64_MAX, &out->gather) ||
        !integer(j, "tasks", 1, SLURM_MAX_TASKS, &tasks) || !is_parts(parts))
        return false;
    out->n_tasks = (uint32_t)tasks;
    out->parts = arena_strdup(a, parts);
    return true;
}

vpu_status slurm_record_parse(const file_bytes *text, arena *a,
                              slurm_record *out, vpu_error *err)
{
    json_t *j;
    const json_t *list, *one;
    size_t i;
    vpu_status st = load(text, &j, err);

    *out = (slurm_record){0};
    if (st)
        return st;
    list = json_object_get(j, "submissions");
    if (!json_is_array(list))
        st = err_at(err, VPU_ERR_PARSE, text->path, 0, 0,
                    "expected an object with the array submissions; the file "
                    "is damaged, remove it");
    json_array_foreach(list, i, one)
    {
        slurm_submission s;

        if (!st && !take_submission(one, a, &s))
            st = err_at(err, VPU_ERR_PARSE, text->path, 0, 0,
                        "submission %zu: expected array, gather, tasks and "
                        "parts; the file is damaged, remove it",
                        i + 1);
        if (!st)
            *arena_append(a, out->items, out->n, out->cap) = s;
    }
    json_decref(j);
    return st;
}

vpu_status slurm_record_read(const char *dir, arena *a, slurm_record *out,
                             vpu_error *err)
{
    file_bytes text = {.path = file_join(a, dir, file_of_record)};
    char *data;
    vpu_status st;

    *out = (slurm_record){0};
    if (!file_exists(text.path))
        return VPU_OK;
    st = file_read(text.path, SLURM_MAX_BYTES, a, &data, &text.n, err);
    text.data = data;
    return st ? st : slurm_record_parse(&text, a, out, err);
}

static vpu_status record_write(const char *dir, const slurm_record *r, arena *a,
                               vpu_error *err)
{
    json_t *list = json_array();
    str text = {0};

    for (size_t i = 0; i < r->n; i++) {
        const slurm_submission *s = &r->items[i];

        json_array_append_new(list, json_pack("{s:I, s:I, s:I, s:s}", "array",
                                              (json_int_t)s->array, "gather",
                                              (json_int_t)s->gather, "tasks",
                                              (json_int_t)s->n_tasks, "parts",
                                              s->parts));
    }
    jsontext_add(&text, json_pack("{s:o}", "submissions", list),
                 JSONTEXT_EXACT);
    return write_text(dir, file_of_record, &text, a, err);
}

/* --- programs of Slurm ------------------------------------------------------ */

vpu_status slurm_find(const char *name, arena *a, char **path, vpu_error *err)
{
    const char *at = getenv("PATH");

    while (at && *at) {
        size_t n = strcspn(at, ":");
        const char *folder = n ? arena_strndup(a, at, n) : ".";
        char *file = file_join(a, folder, name), whole[PATH_MAX];

        at += n + (at[n] == ':');
        if (access(file, X_OK) || !realpath(file, whole))
            continue;
        *path = arena_strdup(a, whole);
        return VPU_OK;
    }
    return err_set(err, VPU_ERR_IO,
                   "%s: not in PATH; this machine has no Slurm, or its module "
                   "is not loaded",
                   name);
}

/* The last line that says something, without "sbatch: error: " in front. */
static const char *last_words(const job *j, const char *name, arena *a)
{
    const char *text = str_text(&j->errors), *last = text;
    size_t n = j->errors.n;
    const char *front;

    while (n && text[n - 1] == '\n')
        n--;
    for (const char *at = text; at < text + n; at++)
        if (*at == '\n')
            last = at + 1;
    last = arena_strndup(a, last, (size_t)(text + n - last));
    front = arena_printf(a, "%s: error: ", name);
    if (!strncmp(last, front, strlen(front)))
        last += strlen(front);
    return *last ? last : "it said nothing";
}

static vpu_status judge(const job *j, const char *name, double seconds,
                        arena *a, vpu_error *err)
{
    if (j->timed_out)
        return err_set(err, VPU_ERR_IO,
                       "%s: no answer within %g s; Slurm's controller may be "
                       "down, try again",
                       name, seconds);
    if (j->signal)
        return err_set(err, VPU_ERR_IO, "%s: ended by signal %d (%s)", name,
                       j->signal, strsignal(j->signal));
    if (j->exit_status)
        return err_set(err, VPU_ERR_IO, "%s: %s", name, last_words(j, name, a));
    return VPU_OK;
}

vpu_status slurm_ask(char **words, const char *dir, double seconds, arena *a,
                     char **output, vpu_error *err)
{
    char *name = words[0], *path;
    job j = {.argv = words, .dir = dir};
    vpu_status st = slurm_find(name, a, &path, err);

    *output = arena_strdup(a, "");
    if (st)
        return st;
    words[0] = path;
    st = jobs_run(&j, 1,
                  &(const jobs_config){.n_parallel = 1, .timeout_s = seconds},
                  err);
    words[0] = name;
    if (!st) {
        *output = arena_strdup(a, str_text(&j.out));
        st = judge(&j, name, seconds, a, err);
    }
    job_free(&j);
    return st;
}

/* --- submission ------------------------------------------------------------- */

/* What sbatch --parsable prints: ID, or ID;CLUSTER. */
static bool take_id(const char *text, arena *a, uint64_t *out)
{
    unsigned long long n;

    if (!str_to_u64(arena_strndup(a, text, strcspn(text, ";\n")), &n) || !n ||
        n > INT64_MAX)
        return false;
    *out = n;
    return true;
}

static vpu_status sbatch(const slurm_order *o, char *option, const char *script,
                         arena *a, uint64_t *id, vpu_error *err)
{
    char **w = arena_array(a, char *, o->n_options + 6), *output;
    size_t n = 0;
    vpu_status st;

    w[n++] = arena_strdup(a, "sbatch");
    w[n++] = arena_strdup(a, "--parsable");
    for (size_t i = 0; i < o->n_options; i++)
        w[n++] = o->options[i];
    w[n++] = arena_printf(a, "--chdir=%s", o->dir);
    w[n++] = option; /* of options given twice the last one counts */
    w[n++] = arena_strdup(a, script);
    st = slurm_ask(w, o->dir, ASK_SECONDS, a, &output, err);
    if (st || take_id(output, a, id))
        return st;
    return err_set(err, VPU_ERR_IO,
                   "sbatch: it printed '%.80s', expected a job's number",
                   output);
}

static char *array_option(const slurm_order *o, arena *a)
{
    if (!o->plan->at_once)
        return arena_printf(a, "--array=%s", o->parts);
    return arena_printf(a, "--array=%s%%%" PRIu32, o->parts, o->plan->at_once);
}

vpu_status slurm_submit(const slurm_order *o, arena *a, slurm_submission *out,
                        vpu_error *err)
{
    slurm_record record;
    vpu_error why;
    vpu_status st = slurm_record_read(o->dir, a, &record, err), written;

    *out = (slurm_submission){.n_tasks = o->plan->n_tasks, .parts = o->parts};
    if (!st)
        st =
            sbatch(o, array_option(o, a), script_of_array, a, &out->array, err);
    if (st)
        return st;
    st =
        sbatch(o, arena_printf(a, "--dependency=afterany:%" PRIu64, out->array),
               script_of_gather, a, &out->gather, err);
    *arena_append(a, record.items, record.n, record.cap) = *out;
    /* First what cannot be repeated: the job is there whatever came behind. */
    written = record_write(o->dir, &record, a, &why);
    if (written && err)
        *err = why;
    if (written)
        return err_in(err, written,
                      "array job %" PRIu64 " is submitted, but not recorded",
                      out->array);
    if (st)
        return err_in(err, st,
                      "array job %" PRIu64 " is submitted, and goes on without "
                      "the job that gathers; scancel %" PRIu64 " ends it",
                      out->array, out->array);
    return VPU_OK;
}
