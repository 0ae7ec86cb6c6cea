/* Graphs: buffers and launches grow, are verified, and go. */
#include "base/oom.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/api/api_priv.h"
#include "runtime/graph/conversions.h"

/* --- making and freeing --------------------------------------------------- */

static vpu_status make_graph(void *user, vpu_error *err)
{
    vpu_graph **out = user;
    arena *a = arena_create(0);

    (void)err;
    *out = arena_new(a, vpu_graph);
    atomic_init(&(*out)->refs, 1);
    (*out)->arena = a;
    (*out)->last_operation = &(*out)->operations;
    (*out)->g = (graph){.layer = "", .type = "", .batch = 1, .form = "flat"};
    return VPU_OK;
}

vpu_status vpu_graph_create(vpu_graph **out, vpu_context *context,
                            vpu_error *err)
{
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(context, "context", err);
    if (!st)
        st = oom_guard(make_graph, out, err);
    if (!st)
        (*out)->context = api_context_keep(context);
    return st;
}

vpu_graph *api_graph_keep(vpu_graph *g)
{
    atomic_fetch_add(&g->refs, 1);
    return g;
}

static void free_contents(vpu_graph *g)
{
    bool shared = g->open.ops && g->open.ops->inspect;

    for (size_t i = 0; i < g->n_tensors && !shared; i++)
        if (g->tensors[i])
            free(g->tensors[i]->memory);
}

void vpu_graph_free(vpu_graph *self)
{
    if (!self || atomic_fetch_sub(&self->refs, 1) != 1)
        return;
    free_contents(self);
    backend_close(&self->open);
    for (size_t i = 0; i < self->n_programs; i++)
        vpu_program_free(self->programs[i]);
    vpu_context_free(self->context);
    arena_destroy(self->arena);
}

/* --- growing -------------------------------------------------------------- */

vpu_status api_graph_needs_open(const vpu_graph *g, vpu_error *err)
{
    return g->sealed ? err_set(err, VPU_ERR_INVALID,
                               "the graph is finalized: nothing can be added "
                               "or changed")
                     : VPU_OK;
}

static bool name_is_taken(const vpu_graph *g, const char *name)
{
    for (uint32_t i = 0; i < g->g.n_buffers; i++)
        if (!strcmp(g->g.buffers[i].name, name))
            return true;
    return false;
}

static const char *free_name(vpu_graph *g, const api_new_tensor *n)
{
    const char *name = n->name;

    if (name_is_taken(g, name) && n->of)
        name = arena_printf(g->arena, "%s.%s", n->of, n->name);
    for (int k = 2; name_is_taken(g, name); k++)
        name =
            arena_printf(g->arena, "%s.%s%d", n->of ? n->of : "", n->name, k);
    return arena_strdup(g->arena, name);
}

vpu_tensor *api_graph_add_buffer(vpu_graph *g, const api_new_tensor *n)
{
    const tensor_desc *d = &n->buffer.desc;
    const char *name = free_name(g, n);
    size_t count = g->g.n_buffers;
    vpu_tensor *t = NULL;

    if (n->role) {
        t = arena_new(g->arena, vpu_tensor);
        *t = (vpu_tensor){.graph = g,
                          .name = name,
                          .label = n->label,
                          .role = n->role,
                          .type = (uint32_t)d->dtype + VPU_F16,
                          .rank = d->rank,
                          .buffer = g->g.n_buffers,
                          .bytes = n->buffer.bytes};
        memcpy(t->dims, d->dims, sizeof d->dims);
    }
    *arena_append(g->arena, g->tensors, g->n_tensors, g->tensors_cap) = t;
    *arena_append(g->arena, g->g.buffers, count, g->buffers_cap) = n->buffer;
    g->g.buffers[g->g.n_buffers].name = name;
    g->g.n_buffers = (uint32_t)count;
    return t;
}

vpu_operation *api_graph_add_operation(vpu_graph *g, const char *name)
{
    vpu_operation *op = arena_new(g->arena, vpu_operation);

    op->graph = g;
    op->outer = g->begun;
    op->name = op->outer
                   ? arena_printf(g->arena, "%s/%s", op->outer->name, name)
                   : arena_strdup(g->arena, name);
    op->launch = g->g.n_launches;
    *g->last_operation = op;
    g->last_operation = &op->next;
    g->n_operations++;
    return op;
}

/* How far a graph has grown. */
typedef struct {
    size_t n_tensors, n_programs, n_params;
    uint32_t n_buffers, n_launches, n_operations, n_views;
    vpu_tensor *views;
    vpu_operation **last_operation;
    const char *layer, *type;
} graph_mark;

static graph_mark mark_of(const vpu_graph *g)
{
    return (graph_mark){.n_tensors = g->n_tensors,
                        .n_programs = g->n_programs,
                        .n_params = g->n_params,
                        .n_buffers = g->g.n_buffers,
                        .n_launches = g->g.n_launches,
                        .n_operations = g->n_operations,
                        .n_views = g->n_views,
                        .views = g->views,
                        .last_operation = g->last_operation,
                        .layer = g->g.layer,
                        .type = g->g.type};
}

static void go_back_to(vpu_graph *g, const graph_mark *m)
{
    for (size_t i = m->n_programs; i < g->n_programs; i++)
        vpu_program_free(g->programs[i]);
    g->n_tensors = m->n_tensors;
    g->n_params = m->n_params;
    g->n_programs = m->n_programs;
    g->g.n_buffers = m->n_buffers;
    g->g.n_launches = m->n_launches;
    g->n_operations = m->n_operations;
    g->views = m->views;
    g->n_views = m->n_views;
    g->last_operation = m->last_operation;
    *g->last_operation = NULL;
    g->g.layer = m->layer;
    g->g.type = m->type;
}

vpu_status api_graph_change(vpu_graph *g,
                            vpu_status (*work)(void *user, vpu_error *err),
                            void *user, vpu_error *err)
{
    const graph_mark before = mark_of(g);
    vpu_status st = oom_guard(work, user, err);

    if (st)
        go_back_to(g, &before);
    return st;
}

void api_graph_describe(vpu_graph *g, const char *layer, const char *type)
{
    const char *between = *g->g.layer ? ", " : "";

    g->g.layer = arena_printf(g->arena, "%s%s%s", g->g.layer, between, layer);
    g->g.type = arena_printf(g->arena, "%s%s%s", g->g.type, between, type);
}

graph_launch *api_graph_add_launch(vpu_graph *g)
{
    size_t n = g->g.n_launches;
    graph_launch *l = arena_append(g->arena, g->g.launches, n, g->launches_cap);

    *l = (graph_launch){0};
    g->g.n_launches = (uint32_t)n;
    return l;
}

void api_operation_reads(vpu_operation *op, vpu_tensor *t)
{
    *arena_append(op->graph->arena, op->inputs, op->n_inputs, op->inputs_cap) =
        t;
}

void api_operation_writes(vpu_operation *op, vpu_tensor *t)
{
    *arena_append(op->graph->arena, op->outputs, op->n_outputs,
                  op->outputs_cap) = t;
}

const char *vpu_operation_name(const vpu_operation *operation)
{
    return operation ? operation->name : NULL;
}

vpu_tensor *vpu_operation_input(vpu_operation *operation, size_t i)
{
    return operation && i < operation->n_inputs ? operation->inputs[i] : NULL;
}

vpu_tensor *vpu_operation_output(vpu_operation *operation, size_t i)
{
    return operation && i < operation->n_outputs ? operation->outputs[i] : NULL;
}

/* --- composed operations -------------------------------------------------- */

typedef struct {
    vpu_graph *g;
    const char *name;
    vpu_operation *made;
} beginning;

static vpu_status begin(void *user, vpu_error *err)
{
    beginning *b = user;

    (void)err;
    b->made = api_graph_add_operation(b->g, b->name);
    b->made->composed = true;
    return VPU_OK;
}

vpu_status vpu_graph_begin(vpu_graph *self, const char *name,
                           vpu_operation **out, vpu_error *err)
{
    beginning b = {self, name, NULL};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(self, "graph", err);
    if (!st)
        st = api_need(name, "name", err);
    if (!st)
        st = api_graph_needs_open(self, err);
    if (!st)
        st = api_graph_change(self, begin, &b, err);
    if (!st)
        *out = self->begun = b.made;
    return st;
}

vpu_status vpu_graph_end(vpu_operation *operation, vpu_error *err)
{
    vpu_status st = api_need(operation, "operation", err);

    if (st)
        return st;
    if (!operation->composed || operation->ended)
        return err_set(err, VPU_ERR_INVALID, "operation %s %s", operation->name,
                       operation->composed ? "has ended already"
                                           : "was not begun: it is not "
                                             "composed");
    if (operation->graph->begun != operation)
        return err_set(err, VPU_ERR_INVALID,
                       "operation %s cannot end before its part %s",
                       operation->name, operation->graph->begun->name);
    operation->n_launches = operation->graph->g.n_launches - operation->launch;
    operation->ended = true;
    operation->graph->begun = operation->outer;
    return VPU_OK;
}

/* --- verifying ------------------------------------------------------------ */

static vpu_status check_arguments(const vpu_graph *g, vpu_error *err)
{
    for (const vpu_operation *op = g->operations; op; op = op->next)
        for (uint32_t i = 0; op->kernel && i < op->kernel->compiled->n_args;
             i++)
            if (!op->set[i]) {
                const sim_arg *p = &op->kernel->compiled->args[i];

                return err_set(err, VPU_ERR_INVALID,
                               "operation %s: argument '%s' (%s) of kernel "
                               "'%s' is not set",
                               op->name, p->name, p->type,
                               op->kernel->compiled->name);
            }
    return VPU_OK;
}

/* A part of a buffer that launches have written. */
typedef struct {
    uint64_t from, to;
    const char *by; /* launch */
} written_part;

typedef struct {
    written_part *parts; /* none of them overlap */
    size_t n, cap;
} written_buffer;

typedef struct {
    const vpu_graph *g;
    arena *a;
    written_buffer *buffers; /* of the graph */
} flow;

static uint64_t bytes_of(const graph_arg *x, const graph_buffer *b)
{
    return x->bytes   ? x->bytes
           : x->items ? b->bytes / x->items
                      : b->bytes - x->offset;
}

static bool is_written(const flow *f, const graph_arg *x)
{
    const graph_buffer *b = &f->g->g.buffers[x->buffer];
    const written_buffer *w = &f->buffers[x->buffer];
    uint64_t from = x->offset, to = from + bytes_of(x, b), has = 0;

    if (b->role == GRAPH_INPUT || b->role == GRAPH_CONST)
        return true;
    for (size_t i = 0; i < w->n; i++) {
        uint64_t begin = w->parts[i].from > from ? w->parts[i].from : from;
        uint64_t end = w->parts[i].to < to ? w->parts[i].to : to;

        has += begin < end ? end - begin : 0;
    }
    return has == to - from;
}

static vpu_status note_written(flow *f, const graph_launch *l,
                               const graph_arg *x, vpu_error *err)
{
    const graph_buffer *b = &f->g->g.buffers[x->buffer];
    written_buffer *w = &f->buffers[x->buffer];
    written_part p = {x->offset, x->offset + bytes_of(x, b), l->name};

    for (size_t i = 0; i < w->n; i++) {
        const written_part *q = &w->parts[i];

        if (q->from == p.from && q->to == p.to)
            return VPU_OK;
        if (q->from < p.to && p.from < q->to)
            return err_set(err, VPU_ERR_INVALID,
                           "%s and %s write parts of %s that overlap: bytes "
                           "%llu to %llu and %llu to %llu",
                           q->by, p.by, b->name, (unsigned long long)q->from,
                           (unsigned long long)q->to,
                           (unsigned long long)p.from,
                           (unsigned long long)p.to);
    }
    *arena_append(f->a, w->parts, w->n, w->cap) = p;
    return VPU_OK;
}

static vpu_status follow_launch(flow *f, const graph_launch *l, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t k = 0; k < l->n_args; k++) {
        const graph_arg *x = &l->args[k];

        /* What passes between the stages of one layer is the binding's
         * business; checkers look at it. */
        if (x->kind == GRAPH_ARG_BUFFER && !x->written &&
            f->g->tensors[x->buffer] && !is_written(f, x))
            return err_set(err, VPU_ERR_INVALID,
                           "%s reads tensor %s, which nothing has written yet: "
                           "operations run in the order they were added",
                           l->name, f->g->g.buffers[x->buffer].name);
    }
    for (uint32_t k = 0; k < l->n_args && !st; k++)
        if (l->args[k].kind == GRAPH_ARG_BUFFER && l->args[k].written)
            st = note_written(f, l, &l->args[k], err);
    return st;
}

static vpu_status check_flow(const vpu_graph *g, arena *a, vpu_error *err)
{
    flow f = {g, a, arena_array(a, written_buffer, g->g.n_buffers + 1)};
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->g.n_launches && !st; i++)
        st = follow_launch(&f, &g->g.launches[i], err);
    for (uint32_t i = 0; i < g->g.n_buffers && !st; i++) {
        const graph_arg whole = {.buffer = i};

        if (g->g.buffers[i].role == GRAPH_OUTPUT && !is_written(&f, &whole))
            st = err_set(err, VPU_ERR_INVALID, "nothing writes output %s%s",
                         g->g.buffers[i].name,
                         f.buffers[i].n ? ", or only parts of it" : "");
    }
    return st;
}

/* Launches of operations, after some are gone. */
static void renumber(vpu_graph *g, const uint32_t *new_index)
{
    for (vpu_operation *op = g->operations; op; op = op->next) {
        uint32_t end = new_index[op->launch + op->n_launches];

        op->launch = new_index[op->launch];
        op->n_launches = end - op->launch;
    }
}

static vpu_status seal(void *user, vpu_error *err)
{
    vpu_graph *g = user;
    vpu_status st;

    if (!g->g.n_launches)
        return err_set(err, VPU_ERR_INVALID, "the graph has no operation");
    if (g->begun)
        return err_set(
            err, VPU_ERR_INVALID,
            "operation %s was begun and has not ended: vpu_graph_end",
            g->begun->name);
    st = check_arguments(g, err);
    if (!st)
        st = check_flow(g, g->arena, err);
    if (!st && !g->context->keep_conversions) {
        uint32_t *new_index;

        graph_cancel_conversions(&g->g, g->arena, &new_index);
        renumber(g, new_index);
    }
    return st;
}

vpu_status api_graph_seal(vpu_graph *g, vpu_error *err)
{
    vpu_status st = g->sealed ? VPU_OK : oom_guard(seal, g, err);

    if (!st)
        g->sealed = true;
    return st;
}

backend_config api_graph_config(const vpu_graph *g)
{
    backend_config cfg = g->context->cfg;

    cfg.params = g->params;
    cfg.n_params = (uint32_t)g->n_params;
    return cfg;
}

vpu_status api_graph_check_inputs(const vpu_graph *g, vpu_error *err)
{
    for (size_t i = 0; i < g->n_tensors; i++) {
        const vpu_tensor *t = g->tensors[i];

        if (t && t->role == VPU_ROLE_INPUT && !t->written)
            return err_set(err, VPU_ERR_INVALID,
                           "input %s was never written: vpu_tensor_write, or "
                           "vpu_tensor_fill",
                           t->name);
    }
    return VPU_OK;
}

vpu_status api_graph_check_ready(const vpu_graph *g, vpu_error *err)
{
    return g->open.ops
               ? api_graph_check_inputs(g, err)
               : err_set(err, VPU_ERR_INVALID,
                         "the graph is not finalized: vpu_graph_finalize");
}

vpu_status api_graph_fill(void *user, const backend *b, vpu_error *err)
{
    const vpu_graph *g = user;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->g.n_buffers && !st; i++) {
        const void *data = api_graph_input(g, i);

        if (data)
            st = b->ops->write(b->self, i, data, err);
    }
    return st;
}

void *api_graph_input(const vpu_graph *g, uint32_t i)
{
    const vpu_tensor *t = g->tensors[i];

    return t && t->role == VPU_ROLE_INPUT ? api_tensor_contents(t) : NULL;
}
