/* Times go into a recording only if they are the device's own: those of the
 * host would make every file another one. */
#include "runtime/diff/record.h"

#include <string.h>

#include "base/file.h"
#include "runtime/backend/identity.h"

typedef struct {
    const backend *b;
    const graph *g;
    arena *a;
    recording *out;
    size_t cap;
    vpu_error *err;
} recorder;

bool diff_writes(const graph_launch *l, uint32_t i)
{
    for (uint32_t k = 0; k < l->n_args; k++)
        if (l->args[k].kind == GRAPH_ARG_BUFFER && l->args[k].written &&
            l->args[k].buffer == i)
            return true;
    return false;
}

static void keep(recorder *r, uint32_t buffer, int32_t launch, const void *data)
{
    size_t n = r->out->n_contents;

    *arena_append(r->a, r->out->contents, n, r->cap) =
        (recording_content){.buffer = buffer, .launch = launch, .data = data};
    r->out->n_contents = (uint32_t)n;
}

static vpu_status give_inputs(recorder *r, void *const *inputs)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < r->g->n_buffers && !st; i++) {
        const graph_buffer *b = &r->g->buffers[i];
        const void *data = b->role == GRAPH_INPUT ? inputs[i] : b->init;

        if (!data)
            continue;
        if (b->role == GRAPH_INPUT)
            st = r->b->ops->write(r->b->self, i, data, r->err);
        keep(r, i, RECORDING_BEFORE, data);
    }
    return st;
}

static vpu_status take(recorder *r, uint32_t buffer, uint32_t launch)
{
    void *data = arena_push(r->a, r->g->buffers[buffer].bytes, 1, 64);
    vpu_status st = r->b->ops->read(r->b->self, buffer, data, r->err);

    if (!st)
        keep(r, buffer, (int32_t)launch, data);
    return st;
}

static vpu_status run_stages(recorder *r, backend_result *results)
{
    vpu_status st = VPU_OK;

    for (uint32_t l = 0; l < r->g->n_launches && !st; l++) {
        st = backend_run(r->b, l, 1, &results[l], r->err);
        for (uint32_t i = 0; i < r->g->n_buffers && !st; i++)
            if (diff_writes(&r->g->launches[l], i))
                st = take(r, i, l);
    }
    return st;
}

static vpu_status run_all(recorder *r, backend_result *results)
{
    uint32_t n = r->g->n_launches;
    vpu_status st = backend_run(r->b, 0, n, results, r->err);

    for (uint32_t i = 0; i < r->g->n_buffers && !st && n; i++)
        if (r->g->buffers[i].role == GRAPH_OUTPUT)
            st = take(r, i, n - 1);
    return st;
}

vpu_status diff_record(const diff_record_job *job, arena *a, recording *out,
                       vpu_error *err)
{
    const backend *b = job->backend;
    const graph *g = job->graph;
    const backend_caps *caps = b->ops->caps(b->self);
    recorder r = {b, g, a, out, 0, err};
    backend_result *results = arena_array(a, backend_result, g->n_launches + 1);
    vpu_status st = backend_identity(job->config, g, a, out, err);
    recording_launch *launches =
        (recording_launch *)(uintptr_t)out->launches; /* ours, in a */

    if (!st)
        st = give_inputs(&r, job->inputs);
    out->stages = job->stages && caps->stages;
    if (!st)
        st = out->stages ? run_stages(&r, results) : run_all(&r, results);
    if (st)
        return st;
    out->backend = b->ops->name;
    out->device = caps->device ? caps->device : "";
    out->version = caps->version ? caps->version : "";
    out->promoted = caps->promoted;
    if (!(backend_extras(b->ops) & BACKEND_MACHINE))
        out->n_machine = 0;
    for (uint32_t i = 0; i < g->n_launches; i++) {
        launches[i].seconds = caps->timed ? results[i].seconds : -1;
        launches[i].cycles = caps->cycles ? results[i].cycles : 0;
    }
    return VPU_OK;
}

double diff_recorded_limit(const char *path)
{
    arena *a = arena_create(0);
    recording r = {0};
    double limit = 0;

    if (file_exists(path) && !recording_read(path, a, &r, NULL))
        limit = r.max_slowdown;
    arena_destroy(a);
    return limit;
}
