/* Functions of the host as operations of a graph. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/oom.h"
#include "runtime/api/layout.h"

/* --- adding --------------------------------------------------------------- */

typedef struct {
    vpu_graph *g;
    const vpu_host_options *o;
    vpu_operation *made;
} adding;

static graph_arg arg_of(const vpu_tensor *t, bool written)
{
    return (graph_arg){.name = t->name,
                       .kind = GRAPH_ARG_BUFFER,
                       .buffer = t->buffer,
                       .offset = (uint32_t)t->offset,
                       .bytes = t->parent ? (uint32_t)t->bytes : 0,
                       .written = written};
}

static vpu_status add_host(void *user, vpu_error *err)
{
    adding *x = user;
    const vpu_host_options *o = x->o;
    vpu_graph *g = x->g;
    size_t n = o->n_inputs + o->n_outputs, count = g->g.n_hosts;
    graph_arg *args = arena_array(g->arena, graph_arg, n + 1);
    vpu_operation *op = api_graph_add_operation(g, o->name ? o->name : "host");

    (void)err;
    op->is_host = true;
    for (size_t i = 0; i < o->n_inputs; i++) {
        args[i] = arg_of(o->inputs[i], false);
        api_operation_reads(op, o->inputs[i]);
    }
    for (size_t i = 0; i < o->n_outputs; i++) {
        args[o->n_inputs + i] = arg_of(o->outputs[i], true);
        api_operation_writes(op, o->outputs[i]);
    }
    *arena_append(g->arena, g->g.hosts, count, g->graph_hosts_cap) =
        (graph_host){op->name, g->g.n_launches, args, (uint32_t)n};
    *arena_append(g->arena, g->hosts, g->n_hosts, g->hosts_cap) =
        (api_host){op, o->function, o->user, o->release};
    g->g.n_hosts = (uint32_t)count;
    x->made = op;
    return VPU_OK;
}

static vpu_status check_tensors(const vpu_graph *g, const char *name,
                                vpu_tensor *const *list, size_t n, bool output,
                                vpu_error *err)
{
    const char *what = output ? "output" : "input";
    vpu_status st =
        n ? api_need(list, output ? "outputs" : "inputs", err) : VPU_OK;

    for (size_t i = 0; i < n && !st; i++) {
        const vpu_tensor *t = list[i];

        if (!t || t->graph != g)
            st = err_set(err, VPU_ERR_INVALID, "operation %s: %s %zu %s", name,
                         what, i, t ? "is of another graph" : "is NULL");
        else if (output && t->role != VPU_ROLE_OUTPUT &&
                 t->role != VPU_ROLE_VIRTUAL)
            st = err_set(err, VPU_ERR_INVALID,
                         "operation %s: output %zu, %s, is %s of the graph, "
                         "which nothing writes",
                         name, i, t->name,
                         t->role == VPU_ROLE_INPUT ? "an input" : "a constant");
        if (!st)
            st = api_layout_refuse_gaps(t, name,
                                        "a function of the host gets tensors "
                                        "in one piece, as kind copy makes them",
                                        err);
    }
    return st;
}

static vpu_status check_options(const vpu_graph *g, const vpu_host_options *o,
                                vpu_error *err)
{
    const char *name = o->name ? o->name : "host";
    vpu_status st =
        api_need((const void *)(uintptr_t)o->function, "function", err);

    if (!st && !o->n_inputs && !o->n_outputs)
        st = err_set(err, VPU_ERR_INVALID,
                     "operation %s has neither inputs nor outputs", name);
    if (!st)
        st = check_tensors(g, name, o->inputs, o->n_inputs, false, err);
    return st ? st
              : check_tensors(g, name, o->outputs, o->n_outputs, true, err);
}

vpu_status vpu_graph_add_host(vpu_graph *self, const vpu_host_options *options,
                              vpu_operation **out, vpu_error *err)
{
    vpu_host_options o;
    adding x = {.g = self, .o = &o};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(self, "graph", err);
    if (!st)
        st = api_graph_needs_open(self, err);
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_host_options", err);
    if (!st)
        st = check_options(self, &o, err);
    if (!st)
        st = api_graph_change(self, add_host, &x, err);
    if (!st)
        *out = x.made;
    return st;
}

void api_hosts_free(vpu_graph *g)
{
    for (size_t i = 0; i < g->n_hosts; i++)
        if (g->hosts[i].release)
            g->hosts[i].release(g->hosts[i].user);
}

vpu_status api_hosts_refuse(const vpu_graph *g, const char *why, vpu_error *err)
{
    return g->n_hosts ? err_set(err, VPU_ERR_UNSUPPORTED,
                                "operation %s is a function of the host: %s",
                                g->hosts[0].operation->name, why)
                      : VPU_OK;
}

/* --- running -------------------------------------------------------------- */

uint32_t api_hosts_next(const vpu_graph *g, uint32_t i)
{
    for (uint32_t h = 0; h < g->g.n_hosts; h++)
        if (g->g.hosts[h].before > i)
            return g->g.hosts[h].before;
    return g->g.n_launches;
}

/* The arguments' memory: the device's own, or copies of whole buffers, of which
 * arguments with the same buffer share one. */
typedef struct {
    const vpu_graph *g;
    const backend *b;
    const graph_host *h;
    char **copies; /* by argument; NULL: not its own */
    char **data;   /* of the buffer, by argument */
} places;

static bool is_whole(const graph_arg *x)
{
    return !x->bytes && !x->offset;
}

/* Its contents before the function: what is written whole has none. */
static vpu_status fill_copy(const places *p, const graph_arg *x, char *to,
                            vpu_error *err)
{
    const graph_buffer *b = &p->g->g.buffers[x->buffer];

    if (b->role == GRAPH_CONST)
        memcpy(to, b->init, b->bytes);
    else if (b->role == GRAPH_INPUT)
        memcpy(to, api_graph_input(p->g, x->buffer), b->bytes);
    else if (!x->written || !is_whole(x))
        return p->b->ops->read(p->b->self, x->buffer, to, err);
    return VPU_OK;
}

static vpu_status place(const places *p, uint32_t k, vpu_error *err)
{
    const graph_arg *x = &p->h->args[k];
    const graph_buffer *b = &p->g->g.buffers[x->buffer];

    if (p->b->ops->inspect) {
        p->data[k] = backend_buffer(p->b, x->buffer);
        return VPU_OK;
    }
    for (uint32_t i = 0; i < k; i++)
        if (p->h->args[i].buffer == x->buffer) {
            p->data[k] = p->data[i];
            return VPU_OK;
        }
    p->data[k] = p->copies[k] = malloc(b->bytes);
    if (!p->copies[k])
        return err_set(err, VPU_ERR_NOMEM, "no memory for the %llu bytes of %s",
                       (unsigned long long)b->bytes, b->name);
    return fill_copy(p, x, p->copies[k], err);
}

static vpu_status write_back(const places *p, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t k = 0; k < p->h->n_args && !st; k++)
        if (p->h->args[k].written && !p->b->ops->inspect)
            st = p->b->ops->write(p->b->self, p->h->args[k].buffer, p->data[k],
                                  err);
    return st;
}

static vpu_status call(const places *p, const api_host *f, char **data,
                       double *seconds, vpu_error *err)
{
    const graph_host *h = p->h;
    uint32_t n = 0;
    double start;
    vpu_error why = {0};
    vpu_status st;

    for (uint32_t k = 0; k < h->n_args; k++)
        data[k] = p->data[k] + h->args[k].offset;
    while (n < h->n_args && !h->args[n].written)
        n++;
    start = clock_seconds();
    st = f->function(f->user, (const void *const *)data,
                     (void *const *)(data + n), &why);
    if (seconds)
        *seconds = clock_seconds() - start;
    if (!st)
        return VPU_OK;
    why.msg[sizeof why.msg - 1] = 0;
    err_set(err, st, "%s", *why.msg ? why.msg : vpu_status_text(st));
    return err_in(err, st, "operation %s", h->name);
}

/* What one function has: its places, and memory for them. */
typedef struct {
    places p;
    const api_host *f;
    double *seconds;
} running;

static vpu_status run_host(running *r, vpu_error *err)
{
    places *p = &r->p;
    uint32_t n = p->h->n_args;
    char **lists = calloc(3 * (size_t)n, sizeof *lists);
    vpu_status st = VPU_OK;

    if (!lists)
        return err_set(err, VPU_ERR_NOMEM, "no memory for %u tensors", n);
    p->copies = lists;
    p->data = lists + n;
    for (uint32_t k = 0; k < n && !st; k++)
        st = place(p, k, err);
    if (!st)
        st = call(p, r->f, lists + 2 * (size_t)n, r->seconds, err);
    if (!st)
        st = write_back(p, err);
    for (uint32_t k = 0; k < n; k++)
        free(p->copies[k]);
    free(lists);
    return st;
}

vpu_status api_hosts_run(const vpu_graph *g, const backend *b, uint32_t i,
                         double *seconds, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t h = 0; h < g->g.n_hosts && !st; h++) {
        running r = {.p = {.g = g, .b = b, .h = &g->g.hosts[h]},
                     .f = &g->hosts[h],
                     .seconds = seconds ? &seconds[h] : NULL};

        if (g->g.hosts[h].before == i)
            st = run_host(&r, err);
    }
    return st;
}
