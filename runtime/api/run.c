/* Graphs on a device: opened, run, cancelled. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/oom.h"
#include "runtime/api/api_priv.h"

enum { PROFILE_LINES = 20 };

/* --- opening -------------------------------------------------------------- */

/* The device's own memory holds the contents from now on. */
static void share_contents(vpu_graph *g)
{
    for (uint32_t i = 0; i < g->g.n_buffers; i++) {
        vpu_tensor *t = g->tensors[i];
        void *device;

        if (!t || (t->role != VPU_ROLE_INPUT && t->role != VPU_ROLE_OUTPUT))
            continue;
        device = backend_buffer(&g->open, i);
        if (t->memory)
            memcpy(device, t->memory, g->g.buffers[i].bytes);
        free(t->memory);
        t->memory = device;
    }
}

static vpu_status give_contents(vpu_graph *g, vpu_error *err)
{
    for (size_t i = 0; i < g->n_tensors; i++) {
        vpu_tensor *t = g->tensors[i];

        if (t && !t->memory &&
            (t->role == VPU_ROLE_INPUT || t->role == VPU_ROLE_OUTPUT) &&
            !(t->memory = calloc(1, api_tensor_memory_bytes(t))))
            return err_set(
                err, VPU_ERR_NOMEM, "no memory for the %llu bytes of %s",
                (unsigned long long)api_tensor_memory_bytes(t), t->name);
    }
    return VPU_OK;
}

/* Some launch must have the item to stop at. */
static vpu_status check_item(const vpu_graph *g, vpu_error *err)
{
    const sim_debug *d = g->cfg.debug;

    if (!d || !d->stop)
        return VPU_OK;
    for (uint32_t i = 0; i < g->g.n_launches; i++) {
        const graph_launch *l = &g->g.launches[i];

        if (!graph_is_internal(l) && d->at[0] < l->global[0] &&
            d->at[1] < l->global[1] && d->at[2] < l->global[2])
            return VPU_OK;
    }
    return err_set(err, VPU_ERR_INVALID,
                   "break_at gid=%u,%u,%u: no kernel of the run has this "
                   "work-item",
                   d->at[0], d->at[1], d->at[2]);
}

/* All but the backend itself. */
static vpu_status plan_opening(void *user, vpu_error *err)
{
    vpu_graph *g = user;
    size_t n = g->g.n_launches;
    vpu_status st = VPU_OK;

    if (backend_extras(g->context->ops) & BACKEND_INSPECT)
        st = graph_share(&g->g, g->arena, &g->sharing, err);
    if (st)
        return st;
    g->cfg = api_graph_config(g);
    g->cfg.how.cancel = &g->cancel;
    g->planned = arena_memdup(g->arena, g->g.launches, n * sizeof *g->planned);
    st = api_graph_take_tuned(g, err);
    return st ? st : api_graph_take_local(g, err);
}

static vpu_status open_planned(void *user, vpu_error *err)
{
    vpu_graph *g = user;
    vpu_status st =
        backend_open(g->context->ops, &g->cfg, &g->g, &g->open, err);

    if (!st && !g->open.ops->caps(g->open.self)->stages)
        st = api_hosts_refuse(g, "the backend runs a graph only as a whole",
                              err);
    if (!st && g->open.ops->inspect)
        share_contents(g);
    else if (!st)
        st = give_contents(g, err);
    if (st)
        backend_close(&g->open);
    return st;
}

/* When the graph is open, or cannot be: launches are as they were then. */
static void end_plan(vpu_graph *g)
{
    if (g->planned && !g->open.ops)
        memcpy(g->g.launches, g->planned, g->g.n_launches * sizeof *g->planned);
    g->planned = NULL;
}

vpu_status vpu_graph_finalize(vpu_graph *self, vpu_error *err)
{
    vpu_status st = api_need(self, "graph", err);

    if (st || self->open.ops)
        return st;
    st = api_graph_seal(self, err);
    if (!st)
        st = oom_guard(plan_opening, self, err);
    if (!st)
        st = check_item(self, err);
    if (!st)
        st = oom_guard(open_planned, self, err);
    end_plan(self);
    return st;
}

/* --- running -------------------------------------------------------------- */

typedef struct {
    vpu_graph *g;
    const vpu_run_options *o;
    bool opens; /* it finalizes the graph */
    uint32_t repeat;
    api_run_files files;
    backend_result *results; /* a row for each repetition */
    double *hosts;   /* seconds of each function of the host, of the last one */
    uint64_t copied; /* bytes from and to imported memory, of the last one */
    bool wants_result;
    mach_executors_result executors;
    vpu_result *made;
} running;

vpu_status api_run_write_inputs(const vpu_graph *g, uint64_t *copied,
                                vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->g.n_buffers && !st; i++) {
        const vpu_tensor *t = g->tensors[i];

        if (!t || t->role != VPU_ROLE_INPUT)
            continue;
        if (t->imported)
            *copied += g->g.buffers[i].bytes;
        if (!g->open.ops->inspect)
            st = g->open.ops->write(g->open.self, i, api_tensor_memory(t), err);
        else if (t->imported)
            memcpy(t->memory, t->imported, g->g.buffers[i].bytes);
    }
    return st;
}

vpu_status api_run_read_outputs(const vpu_graph *g, uint64_t *copied,
                                vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->g.n_buffers && !st; i++) {
        const vpu_tensor *t = g->tensors[i];

        if (g->g.buffers[i].role != GRAPH_OUTPUT)
            continue;
        if (t->imported)
            *copied += g->g.buffers[i].bytes;
        if (!g->open.ops->inspect)
            st = g->open.ops->read(g->open.self, i, api_tensor_memory(t), err);
        else if (t->imported)
            memcpy(t->imported, t->memory, g->g.buffers[i].bytes);
    }
    return st;
}

/* A backend that cannot be told to stop is asked for its launches one by one,
 * so that a stop comes behind the one that runs. Functions of the host stand
 * between launches. */
static vpu_status run_launches(const running *r, backend_result *results,
                               vpu_error *err)
{
    const vpu_graph *g = r->g;
    const backend *b = &g->open;
    bool one_by_one = !b->ops->cancel && b->ops->caps(b->self)->stages;
    uint32_t n = g->g.n_launches, next;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < n && !st; i = next) {
        next = one_by_one ? i + 1 : api_hosts_next(g, i);
        st = api_hosts_run(g, b, i, r->hosts, err);
        if (!st)
            st = atomic_load(&g->cancel)
                     ? err_set(err, VPU_ERR_STOPPED, "%s: cancelled",
                               g->g.launches[i].name)
                     : backend_run(b, i, next - i, results + i, err);
    }
    return st ? st : api_hosts_run(g, b, n, r->hosts, err);
}

static vpu_status run_once(running *r, uint32_t repetition, vpu_error *err)
{
    vpu_graph *g = r->g;
    vpu_status st;

    api_run_files_work(&r->files, "transfer");
    r->copied = 0;
    st = r->o->fill ? r->o->fill(r->o->user, g, err) : VPU_OK;
    if (!st)
        st = api_graph_check_inputs(g, err);
    if (!st)
        st = api_run_write_inputs(g, &r->copied, err);
    api_run_files_work(&r->files, "run");
    if (repetition + 1 == r->repeat)
        api_run_files_observe(&r->files);
    if (!st)
        st = run_launches(r, r->results + repetition * g->g.n_launches, err);
    return st;
}

/* Of steps that advice replays: half a million work-groups. */
enum { STEPS_BYTES = 64 << 20 };

/* Advice looks at the last run: before it nobody wants the steps. */
static void keep_steps(const running *r, uint32_t run)
{
    const backend *b = &r->g->open;
    bool wanted = r->o->advise && run == r->repeat - 1;

    if (b->ops->observe)
        b->ops->observe->keep_steps(b->self, wanted ? STEPS_BYTES : 0);
}

static vpu_status run_repeated(running *r, vpu_error *err)
{
    const backend *b = &r->g->open;
    vpu_status st = VPU_OK;

    if (b->ops->observe)
        b->ops->observe->profile(b->self, "a profile",
                                 r->o->profile || r->o->folded);
    for (uint32_t i = 0; i < r->repeat && !st; i++) {
        keep_steps(r, i);
        st = run_once(r, i, err);
    }
    return st;
}

static vpu_status make_result(running *r, vpu_error *err)
{
    const api_run run = {.graph = r->g,
                         .results = r->results,
                         .repeat = r->repeat,
                         .hosts = r->hosts,
                         .copied = r->copied,
                         .n_executors = r->o->executors,
                         .executors = r->executors,
                         .profile_lines = !r->o->profile ? 0
                                          : r->o->profile_lines
                                              ? r->o->profile_lines
                                              : PROFILE_LINES};

    return api_result_create(&r->made, &run, err);
}

/* Files first, then what the caller puts in front, then the device. */
static vpu_status prepare(running *r, vpu_error *err)
{
    vpu_graph *g = r->g;
    vpu_status st = r->opens ? plan_opening(g, err) : VPU_OK;

    if (!st)
        st = api_run_files_open(&r->files, err);
    if (!st)
        st = check_item(g, err);
    if (!st && r->o->opened)
        st = r->o->opened(r->o->user, g, err);
    api_run_files_work(&r->files, "compile");
    if (st || !r->opens)
        return st;
    g->cfg.trace = g->context->ops->trace ? NULL : r->files.trace;
    return open_planned(g, err);
}

static vpu_status run_graph(void *user, vpu_error *err)
{
    running *r = user;
    vpu_graph *g = r->g;
    uint32_t n = g->g.n_launches;
    const vpu_context *c = g->context;
    vpu_status st = api_run_files_ask(r->o, c->id, c->ops, &c->cfg.how, err);

    if (!st)
        st = prepare(r, err);
    if (st)
        return st;
    r->results = oom_malloc((size_t)r->repeat * n * sizeof *r->results);
    memset(r->results, 0, (size_t)r->repeat * n * sizeof *r->results);
    r->hosts = oom_malloc((g->n_hosts + 1) * sizeof *r->hosts);
    memset(r->hosts, 0, (g->n_hosts + 1) * sizeof *r->hosts);
    api_result_settle(g);
    st = run_repeated(r, err);
    if (!st)
        st = api_run_read_outputs(g, &r->copied, err);
    if (!st && r->o->executors)
        st = backend_executors(&g->open, &g->g, &g->context->desc,
                               r->o->executors, r->files.trace, NULL,
                               &r->executors, err);
    if (!st)
        g->ran = true;
    if (!st && r->wants_result)
        st = make_result(r, err);
    return st ? st : api_run_files_save(&r->files, r->made, err);
}

static vpu_status hint(void *user, vpu_error *err)
{
    const running *r = user;

    api_graph_hint(r->g, err->msg);
    return VPU_OK;
}

/* After the runs, whatever came of them. */
static vpu_status end_run(running *r, vpu_status st, vpu_error *err)
{
    vpu_graph *g = r->g;

    end_plan(g);
    api_run_files_detach(&r->files);
    if (g->cfg.trace) { /* a session's, which ends with packets, too */
        api_result_settle(g);
        backend_close(&g->open);
        g->cfg.trace = NULL;
    }
    st = api_run_files_close(&r->files, st, err);
    free(r->results);
    free(r->hosts);
    if (st == VPU_ERR_FAULT) {
        vpu_error told = *err;

        oom_guard(hint, r, &told);
    }
    return st;
}

static vpu_status check_run_options(const vpu_graph *g,
                                    const vpu_run_options *o, vpu_error *err)
{
    vpu_status st =
        api_check_enum(o->trace_level, VPU_TRACE_FULL, "trace_level", err);

    if (!st && o->repeat > VPU_MAX_REPEAT)
        st = err_set(err, VPU_ERR_INVALID, "repeat %u: at most %d", o->repeat,
                     VPU_MAX_REPEAT);
    if (st || (o->finalize && !g->open.ops))
        return st;
    return o->fill && g->open.ops ? VPU_OK : api_graph_check_ready(g, err);
}

vpu_status vpu_graph_run(vpu_graph *self, const vpu_run_options *options,
                         vpu_result **out, vpu_error *err)
{
    vpu_run_options o;
    vpu_error own, *e = err ? err : &own;
    running r = {.g = self, .o = &o, .files = {self, &o}};
    vpu_status st = api_need(self, "graph", e);

    if (out)
        *out = NULL;
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_run_options", e);
    if (!st)
        st = check_run_options(self, &o, e);
    if (!st)
        st = api_graph_seal(self, e);
    if (st)
        return st;
    r.repeat = o.repeat ? o.repeat : 1;
    r.opens = !self->open.ops;
    r.wants_result =
        out || o.output || o.folded || o.trace || o.trace_json || o.vcd;
    atomic_store(&self->cancel, false);
    st = end_run(&r, oom_guard(run_graph, &r, e), e);
    if (!st && out)
        *out = r.made;
    else
        vpu_result_free(r.made);
    return st;
}

void vpu_graph_cancel(vpu_graph *self)
{
    if (!self)
        return;
    atomic_store(&self->cancel, true);
    if (self->open.ops && self->open.ops->cancel)
        self->open.ops->cancel(self->open.self);
}
