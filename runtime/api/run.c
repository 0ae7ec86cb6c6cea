/* Graphs on a device: opened, run, cancelled. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/oom.h"
#include "runtime/api/api_priv.h"

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

static vpu_status open_backend(void *user, vpu_error *err)
{
    vpu_graph *g = user;
    vpu_context *c = g->context;
    size_t n = g->g.n_launches;
    graph_launch *own;
    vpu_status st = VPU_OK;

    if (backend_extras(c->ops) & BACKEND_INSPECT) {
        st = graph_share(&g->g, g->arena, &g->sharing, err);
        if (st)
            return st;
    }
    g->cfg = api_graph_config(g);
    g->cfg.how.cancel = &g->cancel;
    own = arena_memdup(g->arena, g->g.launches, n * sizeof *own);
    st = api_graph_take_tuned(g, err);
    if (!st)
        st = backend_open(c->ops, &g->cfg, &g->g, &g->open, err);
    if (st)
        memcpy(g->g.launches, own, n * sizeof *own);
    return st;
}

vpu_status vpu_graph_finalize(vpu_graph *self, vpu_error *err)
{
    vpu_status st = api_need(self, "graph", err);

    if (st || self->open.ops)
        return st;
    st = api_graph_seal(self, err);
    if (!st)
        st = oom_guard(open_backend, self, err);
    if (!st && self->n_hosts &&
        !self->open.ops->caps(self->open.self)->stages) {
        st = api_hosts_refuse(self, "the backend runs a graph only as a whole",
                              err);
        backend_close(&self->open);
    }
    if (st)
        return st;
    if (self->open.ops->inspect) {
        share_contents(self);
        return VPU_OK;
    }
    st = give_contents(self, err);
    if (st)
        backend_close(&self->open);
    return st;
}

/* --- running -------------------------------------------------------------- */

typedef struct {
    vpu_graph *g;
    const vpu_run_options *o;
    backend_result *results;
    double *hosts; /* seconds of each function of the host */
    trc_writer *trace;
    uint64_t copied; /* bytes from and to imported memory */
    vpu_result **out;
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

static vpu_status open_trace(running *r, vpu_error *err)
{
    const vpu_run_options *o = r->o;
    trc_config cfg = {.level = TRC_FULL,
                      .clk_mhz = (uint32_t)r->g->context->desc.clk_mhz};
    vpu_status st;

    if (!o->trace && !o->trace_json && !o->vcd)
        return VPU_OK;
    if (!r->g->open.ops->trace)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "backend %s has no timelines of single runs",
                       r->g->context->id);
    st = trc_writer_create(&cfg, &r->trace, err);
    if (!st && o->trace)
        st = trc_writer_add(r->trace, TRC_PERFETTO, o->trace, err);
    if (!st && o->trace_json)
        st = trc_writer_add(r->trace, TRC_CHROME_JSON, o->trace_json, err);
    if (!st && o->vcd)
        st = trc_writer_add(r->trace, TRC_VCD, o->vcd, err);
    if (!st)
        r->g->open.ops->trace->to(r->g->open.self, r->trace);
    return st;
}

static vpu_status close_trace(running *r, vpu_status st, vpu_error *err)
{
    trc_writer *w = r->trace;

    if (!w)
        return st;
    r->g->open.ops->trace->to(r->g->open.self, NULL);
    if (st)
        trc_writer_abandon(w);
    return st ? st : trc_writer_commit(w, err);
}

static vpu_status ask_profile(const running *r, vpu_error *err)
{
    const backend *b = &r->g->open;

    if (r->o->profile && !b->ops->observe)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "backend %s has no profile of lines", r->g->context->id);
    if (r->o->profile)
        return exec_meets("a profile", EXEC_PROFILE_NEEDS, &r->g->cfg.how, NULL,
                          err)
                   ? VPU_ERR_INVALID
                   : VPU_OK;
    return VPU_OK;
}

/* A backend that cannot be told to stop is asked for its launches one by one,
 * so that a stop comes behind the one that runs. Functions of the host stand
 * between launches. */
static vpu_status run_launches(const running *r, vpu_error *err)
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
                     : backend_run(b, i, next - i, r->results + i, err);
    }
    return st ? st : api_hosts_run(g, b, n, r->hosts, err);
}

static vpu_status run_graph(void *user, vpu_error *err)
{
    running *r = user;
    vpu_graph *g = r->g;
    const backend *b = &g->open;
    vpu_status st = ask_profile(r, err);

    r->results =
        calloc(g->g.n_launches ? g->g.n_launches : 1, sizeof *r->results);
    if (!r->results)
        return err_set(err, VPU_ERR_NOMEM, "no memory for %u results",
                       g->g.n_launches);
    r->hosts = calloc(g->n_hosts + 1, sizeof *r->hosts);
    if (!r->hosts)
        return err_set(err, VPU_ERR_NOMEM, "no memory for %zu results",
                       g->n_hosts);
    api_result_settle(g);
    if (!st)
        st = open_trace(r, err);
    if (b->ops->observe)
        b->ops->observe->profile(b->self, "a profile", !st && r->o->profile);
    if (!st)
        st = api_run_write_inputs(g, &r->copied, err);
    if (!st)
        st = run_launches(r, err);
    if (!st)
        st = api_run_read_outputs(g, &r->copied, err);
    return st;
}

static vpu_status make_result(void *user, vpu_error *err)
{
    const running *r = user;
    const api_run run = {.graph = r->g,
                         .results = r->results,
                         .hosts = r->hosts,
                         .copied = r->copied,
                         .profiled = r->o->profile};

    return api_result_create(r->out, &run, err);
}

vpu_status vpu_graph_run(vpu_graph *self, const vpu_run_options *options,
                         vpu_result **out, vpu_error *err)
{
    vpu_run_options o;
    running r = {.g = self, .o = &o, .out = out};
    vpu_status st = api_need(self, "graph", err);

    if (out)
        *out = NULL;
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_run_options", err);
    if (!st)
        st = api_graph_check_ready(self, err);
    if (st)
        return st;
    atomic_store(&self->cancel, false);
    st = oom_guard(run_graph, &r, err);
    st = close_trace(&r, st, err);
    if (!st)
        self->ran = true;
    if (!st && out)
        st = oom_guard(make_result, &r, err);
    free(r.results);
    free(r.hosts);
    return st;
}

void vpu_graph_cancel(vpu_graph *self)
{
    if (!self || !self->open.ops)
        return;
    atomic_store(&self->cancel, true);
    if (self->open.ops->cancel)
        self->open.ops->cancel(self->open.self);
}
