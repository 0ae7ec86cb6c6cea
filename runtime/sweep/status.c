/* Points that are done, failed, or in a task's hands; see status.h. */
#include "runtime/sweep/status.h"

#include "base/oom.h"
#include "runtime/sweep/rounds.h"

typedef struct {
    const sweep_store *store;
    arena *a, *scratch;
    sweep_cursor cursor;
    sweep_status *out;
    size_t cap, cap_failures;
} search;

static vpu_status look_at(void *user, const sweep_point *p, vpu_error *err)
{
    search *s = user;
    json_t *figures = sweep_store_result(s->store, p->name);
    bool done = figures != NULL;
    const char *why =
        done ? NULL : sweep_store_failure(s->store, p->name, s->a);

    (void)err;
    json_decref(figures);
    *arena_append(s->a, s->out->done, s->out->n, s->cap) = done;
    s->out->n_done += done;
    if (why)
        *arena_append(s->a, s->out->failures, s->out->n_failures,
                      s->cap_failures) = (sweep_failure){p->number, why};
    return VPU_OK;
}

static vpu_status look(void *user, vpu_error *err)
{
    search *s = user;

    return sweep_cursor_each(&s->cursor, s->store, SWEEP_POINTS, s->scratch,
                             look_at, s, err);
}

static void end(void *user)
{
    search *s = user;

    sweep_cursor_close(&s->cursor);
    arena_destroy(s->scratch);
}

vpu_status sweep_status_read(const sweep_store *s, arena *a, sweep_status *out,
                             vpu_error *err)
{
    vpu_status st;
    search x = {.store = s, .a = a, .scratch = arena_create(0), .out = out};

    *out = (sweep_status){0};
    st = oom_finally(look, end, &x, err);
    out->n_later = sweep_rounds_points(&s->manifest, out->n) - out->n;
    return st;
}

uint64_t sweep_status_missing(const sweep_status *s, uint64_t part,
                              uint64_t parts)
{
    uint64_t n = 0;

    for (uint64_t i = part; i < s->n; i += parts)
        n += !s->done[i];
    return n;
}

void sweep_status_outlook(const sweep_status *s, const slurm_record *r,
                          const slurm_tasks *t, arena *a,
                          uint64_t points[SLURM_N_STAGES])
{
    slurm_stage *of = arena_array(a, slurm_stage, s->n + 1);

    for (int k = 0; k < SLURM_N_STAGES; k++)
        points[k] = 0;
    for (size_t k = 0; k < r->n; k++) {
        const slurm_submission *sub = &r->items[k];
        slurm_stage *parts = arena_array(a, slurm_stage, sub->n_tasks);

        for (uint32_t i = 0; i < sub->n_tasks; i++)
            parts[i] = slurm_stage_of(t, sub, i);
        for (uint64_t i = 0; i < s->n; i++)
            if (parts[i % sub->n_tasks] > of[i])
                of[i] = parts[i % sub->n_tasks];
    }
    for (uint64_t i = 0; i < s->n; i++)
        points[of[i]] += !s->done[i];
}
