/* Lines of squeue, and what they mean; see squeue.h. */
#include "runtime/sweep/squeue.h"

#include <inttypes.h>
#include <string.h>

enum { ASK_SECONDS = 60 };

/* --- lines ------------------------------------------------------------------ */

/* "5" or "5_3". */
static bool take_id(const char *text, arena *a, slurm_task *out)
{
    size_t n = strcspn(text, "_");
    unsigned long long job, task;

    out->task = -1;
    if (!str_to_u64(arena_strndup(a, text, n), &job) || !job)
        return false;
    out->job = job;
    if (!text[n])
        return true;
    if (!str_to_u64(text + n + 1, &task) || task > INT64_MAX)
        return false;
    out->task = (int64_t)task;
    return true;
}

static bool is_one_of(const char *word, const char *const *list)
{
    while (*list && strcmp(word, *list))
        list++;
    return *list;
}

/* A held job is PENDING, and the reason has the word: JobHeldUser,
 * JobHeldAdmin, "launch failed requeued held", "job requeued in held state". */
static slurm_stage stage_of(const slurm_task *t)
{
    static const char *const running[] = {
        "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED",
        "STOPPED", "SIGNALING",  "STAGE_OUT",   NULL};
    static const char *const waiting[] = {"PENDING",       "REQUEUED",
                                          "RESIZING",      "REQUEUE_FED",
                                          "RESV_DEL_HOLD", NULL};
    static const char *const held[] = {"REQUEUE_HOLD", "SPECIAL_EXIT", NULL};

    if (is_one_of(t->state, running))
        return SLURM_RUNNING;
    if (is_one_of(t->state, held))
        return SLURM_HELD;
    if (!is_one_of(t->state, waiting))
        return SLURM_ENDED;
    return strcasestr(t->reason, "held") ? SLURM_HELD : SLURM_WAITING;
}

/* Four fields, of which the reason may have a '|' itself. */
static bool take_line(char *line, arena *a, slurm_task *out)
{
    char *state = strchr(line, '|'), *reason, *nodes;

    if (!state)
        return false;
    *state++ = 0;
    reason = strchr(state, '|');
    nodes = strrchr(state, '|');
    if (!reason || nodes == reason)
        return false;
    *reason++ = *nodes++ = 0;
    out->state = state;
    out->reason = strcmp(reason, "None") ? reason : "";
    out->nodes = nodes;
    if (!take_id(line, a, out) || !*state)
        return false;
    out->stage = stage_of(out);
    return true;
}

vpu_status slurm_tasks_parse(const file_bytes *text, arena *a, slurm_tasks *out,
                             vpu_error *err)
{
    const char *at = text->data, *end = at + text->n;

    *out = (slurm_tasks){0};
    for (uint32_t number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((stop ? stop : end) - at);
        char *line = arena_strndup(a, at, n);
        slurm_task t;

        at += n + (stop != NULL);
        if (!*line)
            continue;
        if (!take_line(arena_strdup(a, line), a, &t))
            return err_at(err, VPU_ERR_PARSE, text->path, number, 0,
                          "found '%.80s', expected JOB|STATE|REASON|NODES",
                          line);
        *arena_append(a, out->items, out->n, out->cap) = t;
    }
    return VPU_OK;
}

/* --- questions ---------------------------------------------------------------- */

/* Of a single job that is forgotten squeue says so and fails; among several it
 * leaves it out. */
static bool is_forgotten(const vpu_error *err)
{
    return strstr(err->msg, "Invalid job id specified") != NULL;
}

vpu_status slurm_tasks_ask(const uint64_t *jobs, size_t n, arena *a,
                           slurm_tasks *out, vpu_error *err)
{
    char *words[] = {arena_strdup(a, "squeue"),
                     arena_strdup(a, "--noheader"),
                     arena_strdup(a, "--array"),
                     arena_strdup(a, "--states=all"),
                     arena_strdup(a, "--format=" SLURM_FORMAT),
                     NULL,
                     NULL};
    str list = {.arena = a};
    vpu_error why;
    char *text;
    vpu_status st;

    *out = (slurm_tasks){0};
    for (size_t i = 0; i < n; i++)
        str_printf(&list, "%s%" PRIu64, i ? "," : "--jobs=", jobs[i]);
    if (!n)
        return VPU_OK;
    words[5] = list.data;
    st = slurm_ask(words, ".", ASK_SECONDS, a, &text, &why);
    if (st && is_forgotten(&why))
        return VPU_OK;
    if (st && err)
        *err = why;
    return st ? st
              : slurm_tasks_parse(
                    &(const file_bytes){text, strlen(text), "squeue"}, a, out,
                    err);
}

slurm_stage slurm_stage_of(const slurm_tasks *t, const slurm_submission *s,
                           int64_t part)
{
    uint64_t job = part < 0 ? s->gather : s->array;

    for (size_t i = 0; i < t->n; i++)
        if (t->items[i].job == job && t->items[i].task == part)
            return t->items[i].stage;
    return SLURM_GONE;
}
