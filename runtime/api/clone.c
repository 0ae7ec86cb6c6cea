/* Graphs like another one, and several of them for several threads. */
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "runtime/pool/lifetimes.h"

/* --- one ------------------------------------------------------------------ */

typedef struct {
    vpu_graph *from, *made;
    vpu_context *context;
    vpu_operation **operations; /* the new ones, in the order of the list */
} cloning;

/* Roots, by buffer; views follow their parents, which were made before them. */
static vpu_tensor *new_tensor(const cloning *c, const vpu_tensor *t)
{
    if (!t)
        return NULL;
    if (!t->parent)
        return c->made->tensors[t->buffer];
    for (vpu_tensor *v = c->made->views; v; v = v->next)
        if (!strcmp(v->name, t->name))
            return v;
    return NULL; /* every view of the one graph is in the other */
}

static vpu_tensor *copy_tensor(const cloning *c, const vpu_tensor *t)
{
    vpu_tensor *made = arena_memdup(c->made->arena, t, sizeof *t);

    made->graph = c->made;
    made->memory = made->imported = NULL;
    made->written = false;
    return made;
}

static void copy_tensors(const cloning *c)
{
    vpu_graph *g = c->made;
    const vpu_tensor **views =
        arena_array(g->arena, const vpu_tensor *, c->from->n_views + 1);
    uint32_t n = 0;

    g->tensors = arena_array(g->arena, vpu_tensor *, g->n_tensors + 1);
    g->tensors_cap = g->n_tensors + 1;
    for (size_t i = 0; i < g->n_tensors; i++)
        if (c->from->tensors[i])
            g->tensors[i] = copy_tensor(c, c->from->tensors[i]);
    g->views = NULL;
    for (const vpu_tensor *v = c->from->views; v; v = v->next)
        views[n++] = v;
    while (n--) { /* the list has the latest first */
        vpu_tensor *made = copy_tensor(c, views[n]);

        made->parent = new_tensor(c, views[n]->parent);
        made->next = g->views;
        g->views = made;
    }
}

static vpu_tensor **copy_list(const cloning *c, vpu_tensor *const *list,
                              size_t n)
{
    vpu_tensor **made = arena_array(c->made->arena, vpu_tensor *, n + 1);

    for (size_t i = 0; i < n; i++)
        made[i] = new_tensor(c, list[i]);
    return made;
}

static const api_recipe *copy_recipe(const cloning *c, const api_recipe *r)
{
    api_recipe *made;

    if (!r)
        return NULL;
    made = arena_memdup(c->made->arena, r, sizeof *r);
    made->options.inputs = copy_list(c, r->options.inputs, r->options.n_inputs);
    made->options.outputs =
        copy_list(c, r->options.outputs, r->options.n_outputs);
    return made;
}

static void copy_operations(cloning *c)
{
    vpu_graph *g = c->made;
    uint32_t n = 0;

    c->operations = arena_array(g->arena, vpu_operation *, g->n_operations + 1);
    g->last_operation = &g->operations;
    g->operations = NULL;
    for (const vpu_operation *op = c->from->operations; op; op = op->next) {
        vpu_operation *made = arena_memdup(g->arena, op, sizeof *op);
        uint32_t outer = 0;

        made->graph = g;
        made->inputs = copy_list(c, op->inputs, op->n_inputs);
        made->outputs = copy_list(c, op->outputs, op->n_outputs);
        made->recipe = copy_recipe(c, op->recipe);
        made->inputs_cap = op->n_inputs;
        made->outputs_cap = op->n_outputs;
        for (const vpu_operation *o = c->from->operations;
             op->outer && o != op->outer; o = o->next)
            outer++;
        made->outer = op->outer ? c->operations[outer] : NULL;
        made->next = NULL;
        *g->last_operation = made;
        g->last_operation = &made->next;
        c->operations[n++] = made;
    }
}

/* The graph that functions of the host were added to releases them. */
static void copy_hosts(const cloning *c)
{
    vpu_graph *g = c->made;

    g->hosts = arena_array(g->arena, api_host, c->from->n_hosts + 1);
    for (size_t i = 0; i < c->from->n_hosts; i++) {
        uint32_t k = 0;

        g->hosts[i] = c->from->hosts[i];
        g->hosts[i].release = NULL;
        for (const vpu_operation *op = c->from->operations;
             op != c->from->hosts[i].operation; op = op->next)
            k++;
        g->hosts[i].operation = c->operations[k];
    }
}

/* The new graph has the numbers and texts of the old one, which it keeps. */
static vpu_status copy_graph(void *user, vpu_error *err)
{
    cloning *c = user;
    arena *a = arena_create(0);
    vpu_graph *g = arena_new(a, vpu_graph);
    const vpu_graph *from = c->from;

    (void)err;
    c->made = g;
    *g = (vpu_graph){.arena = a,
                     .g = from->g,
                     .n_tensors = from->n_tensors,
                     .n_views = from->n_views,
                     .n_operations = from->n_operations,
                     .params = from->params,
                     .n_params = from->n_params,
                     .n_hosts = from->n_hosts,
                     .loaded = from->loaded,
                     .sealed = true,
                     .resized = from->resized};
    atomic_init(&g->refs, 1);
    g->g.buffers = arena_memdup(a, from->g.buffers,
                                from->g.n_buffers * sizeof *g->g.buffers);
    g->g.launches = arena_memdup(a, from->g.launches,
                                 from->g.n_launches * sizeof *g->g.launches);
    g->g.shared_bytes = 0;
    for (uint32_t i = 0; i < g->g.n_buffers; i++)
        g->g.buffers[i].shares = false;
    copy_tensors(c);
    copy_operations(c);
    copy_hosts(c);
    return VPU_OK;
}

vpu_status vpu_graph_clone(vpu_graph **out, vpu_graph *like,
                           vpu_context *context, vpu_error *err)
{
    cloning c = {.from = like};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(like, "graph", err);
    if (!st)
        st = api_graph_seal(like, err);
    if (!st)
        st = oom_guard(copy_graph, &c, err);
    if (st) {
        if (c.made)
            arena_destroy(c.made->arena);
        return st;
    }
    c.made->context = api_context_keep(context ? context : like->context);
    c.made->origin = api_graph_keep(like);
    *out = c.made;
    return VPU_OK;
}

/* --- several -------------------------------------------------------------- */

struct vpu_instances {
    arena *arena;
    pool_manager *free; /* a set of no memory is an instance */
    vpu_graph **graphs;
    uint32_t n;
};

typedef struct {
    vpu_graph *like;
    uint32_t n;
    vpu_instances *made;
} instancing;

/* Sets without blobs ask for no memory. */
static void *no_memory(void *user, uint64_t bytes, uint64_t alignment)
{
    (void)user, (void)bytes, (void)alignment;
    return NULL;
}

static vpu_status make_instances(void *user, vpu_error *err)
{
    instancing *x = user;
    const pool_memory none = {.alloc = no_memory};
    arena *a = arena_create(0);
    vpu_instances *made = arena_new(a, vpu_instances);
    vpu_status st;

    x->made = made;
    *made = (vpu_instances){.arena = a};
    made->graphs = arena_array(a, vpu_graph *, x->n);
    made->free = pool_manager_create();
    st = pool_populate(made->free, x->n, &none, err);
    for (uint32_t i = 0; i < x->n && !st; i++) {
        st = vpu_graph_clone(&made->graphs[i], x->like, NULL, err);
        made->n = i + !st;
        if (!st)
            st = vpu_graph_finalize(made->graphs[i], err);
    }
    return st;
}

vpu_status vpu_instances_create(vpu_instances **out, vpu_graph *like,
                                uint32_t n, vpu_error *err)
{
    instancing x = {.like = like, .n = n};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(like, "graph", err);
    if (!st && !n)
        st = err_set(err, VPU_ERR_INVALID, "0 instances are asked for");
    if (!st)
        st = oom_guard(make_instances, &x, err);
    if (st)
        vpu_instances_free(x.made);
    else
        *out = x.made;
    return st;
}

void vpu_instances_free(vpu_instances *self)
{
    if (!self)
        return;
    for (uint32_t i = 0; i < self->n; i++)
        vpu_graph_free(self->graphs[i]);
    pool_manager_destroy(self->free);
    arena_destroy(self->arena);
}

vpu_status vpu_instances_acquire(vpu_instances *self, uint32_t wait,
                                 vpu_graph **out, vpu_error *err)
{
    uint32_t set = 0;
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(self, "instances", err);
    if (!st)
        st = wait ? pool_acquire(self->free, &set, err)
                  : pool_try_acquire(self->free, &set, err);
    if (st == VPU_ERR_LIMIT)
        return err_set(err, VPU_ERR_LIMIT,
                       "all %u instances are taken: vpu_instances_release "
                       "gives one back",
                       self->n);
    if (!st)
        *out = self->graphs[set];
    return st;
}

vpu_status vpu_instances_release(vpu_instances *self, vpu_graph *taken,
                                 vpu_error *err)
{
    vpu_status st = api_need(self, "instances", err);

    if (!st)
        st = api_need(taken, "graph", err);
    for (uint32_t i = 0; !st && i < self->n; i++)
        if (self->graphs[i] == taken)
            return pool_give_back(self->free, i, err)
                       ? err_set(err, VPU_ERR_INVALID,
                                 "instance %u is not taken", i)
                       : VPU_OK;
    return st ? st
              : err_set(err, VPU_ERR_INVALID,
                        "the graph is none of the instances");
}
