/* Runs and replays. */
#include "runtime/calibrate/model.h"

#include <string.h>

#include "sim/machine/record.h"

enum { MAX_STEP_BYTES = 1 << 28 };

/* The parameters that steps depend on. */
static const struct {
    const char *name;
    size_t at;
} fields[] = {
#define INT(name, min, max, unit, about) {#name, offsetof(mach_desc, name)},
#include "sim/machine/params.def"
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

struct model {
    arena *a;
    const graph *g;
    mach_desc desc; /* that launches run on now */
    backend_config run;
    backend b;
    uint64_t now[N_FIELDS]; /* of desc, what steps depend on */
    uint64_t *made_on;      /* likewise, of the last run of each launch */
    bool *made;
    uint64_t runs, replays;
};

static void fields_of(const mach_desc *d, uint64_t out[])
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        out[i] = 0;
        if (mach_record_depends(fields[i].name))
            memcpy(&out[i], (const char *)d + fields[i].at, sizeof out[i]);
    }
}

vpu_status model_fill(const backend *b, const graph *g, arena *a,
                      vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->n_buffers && !st; i++)
        if (g->buffers[i].role == GRAPH_INPUT)
            st = b->ops->write(b->self, i,
                               arena_array(a, char, g->buffers[i].bytes), err);
    return st;
}

void model_set(model *m, const mach_desc *desc)
{
    m->desc = *desc;
    fields_of(desc, m->now);
}

vpu_status model_open(const graph *g, const mach_desc *desc,
                      const log_sink *log, model **out, vpu_error *err)
{
    arena *a = arena_create(0);
    model *m = arena_new(a, model);
    vpu_status st;

    *m = (model){.a = a, .g = g, .desc = *desc};
    m->run = (backend_config){.device = "", .desc = &m->desc, .log = log};
    m->run.how.n_threads = 1; /* launches are short */
    m->made = arena_array(a, bool, g->n_launches + 1);
    m->made_on =
        arena_array(a, uint64_t, (size_t)(g->n_launches + 1) * N_FIELDS);
    st = backend_open(
        backend_offering(BACKEND_MACHINE | BACKEND_INSPECT | BACKEND_OBSERVE),
        &m->run, g, &m->b, err);
    if (!st) {
        m->b.ops->observe->keep_steps(m->b.self, MAX_STEP_BYTES);
        st = model_fill(&m->b, g, a, err);
    }
    model_set(m, desc);
    if (st) {
        model_close(m);
        m = NULL;
    }
    *out = m;
    return st;
}

void model_close(model *m)
{
    if (!m)
        return;
    backend_close(&m->b);
    arena_destroy(m->a);
}

vpu_status model_seconds(model *m, size_t launch, double *seconds,
                         vpu_error *err)
{
    uint32_t i = (uint32_t)launch;
    uint64_t *then = &m->made_on[launch * N_FIELDS];
    const mach_record *steps =
        m->made[i] ? backend_launch_of(&m->b, i)->steps : NULL;
    backend_result result;
    mach_profile replayed;
    vpu_status st;

    if (steps && mach_record_complete(steps) &&
        !memcmp(then, m->now, sizeof m->now)) {
        st = mach_record_replay(steps, &m->desc, NULL, NULL, &replayed, err);
        *seconds = st ? 0 : mach_desc_seconds(&m->desc, replayed.cycles);
        m->replays++;
        return st;
    }
    st = backend_run(&m->b, i, 1, &result, err);
    *seconds = st ? 0 : result.seconds;
    m->made[i] = !st;
    memcpy(then, m->now, sizeof m->now);
    m->runs++;
    return st;
}

void model_count(const model *m, uint64_t *runs, uint64_t *replays)
{
    *runs = m->runs;
    *replays = m->replays;
}
