/* A graph at other shapes, in the memory that it has. */
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/api/layout.h"

/* What a tensor was, so that it can be so again. */
typedef struct {
    vpu_tensor *tensor;
    vpu_tensor was;
} kept_tensor;

typedef struct {
    vpu_graph *g;
    vpu_tensor *const *inputs;
    const vpu_shape *shapes;
    size_t n;
    arena *a;
    kept_tensor *tensors;
    size_t n_tensors;
    graph_launch *launches;    /* as they were */
    graph_arg **args;          /* likewise, by launch */
    vpu_operation *operations; /* likewise, in the order of the list */
} resizing;

/* --- tensors -------------------------------------------------------------- */

static bool has_views(const vpu_tensor *t)
{
    for (const vpu_tensor *v = t->graph->views; v; v = v->next)
        if (v->buffer == t->buffer)
            return true;
    return false;
}

vpu_status api_resize_tensor(vpu_tensor *t, const uint32_t *dims,
                             vpu_error *err)
{
    uint64_t bytes = vpu_type_bytes(t->type), has = api_tensor_memory_bytes(t);

    if (!memcmp(t->dims, dims, t->rank * sizeof *dims))
        return VPU_OK;
    if (t->parent || t->has_gaps || has_views(t))
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s %s: its dims cannot change", t->name,
                       t->parent     ? "is a view"
                       : t->has_gaps ? "has padding or strides"
                                     : "has views");
    if (t->role == VPU_ROLE_CONSTANT)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "%s is a constant: its dims cannot change", t->name);
    for (uint32_t i = 0; i < t->rank; i++)
        if (!dims[i] || __builtin_mul_overflow(bytes, dims[i], &bytes) ||
            bytes > has)
            return err_set(err, VPU_ERR_LIMIT,
                           "%s does not fit: with %u in dim %u it takes more "
                           "than the %llu bytes that the graph was finalized "
                           "with",
                           t->name, dims[i], i, (unsigned long long)has);
    memcpy(t->dims, dims, t->rank * sizeof *dims);
    memcpy(t->valid.end, dims, t->rank * sizeof *dims);
    memset(t->valid.start, 0, sizeof t->valid.start);
    t->bytes = bytes;
    t->written = false; /* of inputs: to be written at this shape */
    api_layout_pack_strides(t);
    return VPU_OK;
}

static bool has_changed(const resizing *r, const vpu_tensor *t)
{
    for (size_t i = 0; i < r->n_tensors; i++)
        if (r->tensors[i].tensor == t)
            return memcmp(r->tensors[i].was.dims, t->dims, sizeof t->dims) != 0;
    return false;
}

/* --- as it was ------------------------------------------------------------ */

static void keep(resizing *r)
{
    const vpu_graph *g = r->g;
    uint32_t n = 0;

    r->tensors = arena_array(r->a, kept_tensor, g->n_tensors + 1);
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i])
            r->tensors[r->n_tensors++] =
                (kept_tensor){g->tensors[i], *g->tensors[i]};
    r->launches = arena_memdup(r->a, g->g.launches,
                               g->g.n_launches * sizeof *r->launches);
    r->args = arena_array(r->a, graph_arg *, g->g.n_launches + 1);
    for (uint32_t i = 0; i < g->g.n_launches; i++)
        r->args[i] = arena_memdup(r->a, r->launches[i].args,
                                  r->launches[i].n_args * sizeof **r->args);
    r->operations = arena_array(r->a, vpu_operation, g->n_operations + 1);
    for (const vpu_operation *op = g->operations; op; op = op->next)
        r->operations[n++] = *op;
}

/* A clone shares its arguments with the graph it comes from until now. */
static void own_arguments(vpu_graph *g)
{
    for (uint32_t i = 0; i < g->g.n_launches && !g->owns_arguments; i++) {
        graph_launch *l = &g->g.launches[i];

        l->args = arena_memdup(g->arena, l->args, l->n_args * sizeof *l->args);
    }
    g->owns_arguments = true;
}

static void go_back(const resizing *r)
{
    const vpu_graph *g = r->g;
    uint32_t n = 0;

    for (size_t i = 0; i < r->n_tensors; i++)
        *r->tensors[i].tensor = r->tensors[i].was;
    for (uint32_t i = 0; i < g->g.n_launches; i++) {
        graph_arg *args = (graph_arg *)(uintptr_t)r->launches[i].args;

        g->g.launches[i] = r->launches[i];
        memcpy(args, r->args[i], r->launches[i].n_args * sizeof *args);
    }
    for (vpu_operation *op = g->operations; op; op = op->next)
        *op = r->operations[n++];
}

/* --- operations ----------------------------------------------------------- */

static bool reads_changed(const resizing *r, const vpu_operation *op)
{
    bool changed = false;

    for (size_t i = 0; i < op->n_inputs; i++)
        changed |= has_changed(r, op->inputs[i]);
    return changed;
}

/* One that is of no kind stays as it is, and so must its tensors. */
static vpu_status stay(const resizing *r, const vpu_operation *op,
                       vpu_error *err)
{
    const vpu_tensor *changed = NULL;

    for (size_t i = 0; i < op->n_inputs && !changed; i++)
        changed = has_changed(r, op->inputs[i]) ? op->inputs[i] : NULL;
    for (size_t i = 0; i < op->n_outputs && !changed; i++)
        changed = has_changed(r, op->outputs[i]) ? op->outputs[i] : NULL;
    if (!changed)
        return VPU_OK;
    return err_set(
        err, VPU_ERR_UNSUPPORTED,
        "operation %s is %s, so that the dims of %s cannot change", op->name,
        op->is_host  ? "a function of the host"
        : op->kernel ? "a launch of sizes that are numbers; a kind has "
                       "expressions for them"
                     : "a layer of a model, which gives its shapes",
        changed->name);
}

static vpu_status follow(const resizing *r, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (vpu_operation *op = r->g->operations; op && !st; op = op->next)
        if (op->recipe)
            st = api_add_again(op, err);
        else if (op->layer && reads_changed(r, op))
            st = api_layer_again(op, err);
        else if (!op->composed)
            st = stay(r, op, err);
    return st;
}

static vpu_status check_input(const resizing *r, size_t i, vpu_error *err)
{
    vpu_tensor *t = r->inputs[i];
    const vpu_shape *s = &r->shapes[i];

    if (!t || t->graph != r->g)
        return err_set(err, VPU_ERR_INVALID, "input %zu %s", i,
                       t ? "is of another graph" : "is NULL");
    if (t->role != VPU_ROLE_INPUT)
        return err_set(err, VPU_ERR_INVALID,
                       "%s is no input: dims of other tensors follow from them",
                       t->name);
    if ((s->type && s->type != t->type) || s->rank != t->rank)
        return err_set(err, VPU_ERR_MISMATCH,
                       "%s has %u dims of %s; another type or number of dims "
                       "needs another graph",
                       t->name, t->rank, vpu_type_name(t->type));
    return api_resize_tensor(t, s->dims, err);
}

/* --- the device ----------------------------------------------------------- */

static vpu_status rebind_all(const vpu_graph *g, vpu_error *err)
{
    const backend *b = &g->open;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->g.n_launches && !st; i++)
        st = b->ops->inspect->rebind(b->self, i, err);
    return st;
}

/* The device knows launches as they were when it was opened. */
static vpu_status open_again(vpu_graph *g, vpu_error *err)
{
    const backend_ops *ops = g->open.ops;

    vpu_status st;

    backend_close(&g->open);
    st = backend_open(ops, &g->cfg, &g->g, &g->open, err);
    if (st)
        backend_close(&g->open);
    return st;
}

static void note_sizes(vpu_graph *g)
{
    g->resized = false;
    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i] && !g->tensors[i]->has_gaps)
            g->resized |=
                g->tensors[i]->bytes != api_tensor_memory_bytes(g->tensors[i]);
}

/* Every step that may fail, with memory or without. */
static vpu_status change(void *user, vpu_error *err)
{
    resizing *r = user;
    vpu_graph *g = r->g;
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < r->n && !st; i++)
        st = check_input(r, i, err);
    if (!st)
        st = follow(r, err);
    if (st)
        return st;
    return g->open.ops->inspect ? rebind_all(g, err) : open_again(g, err);
}

static vpu_status resize_with(void *user, arena *scratch, vpu_error *err)
{
    resizing *r = user;
    vpu_graph *g = r->g;
    vpu_status st;

    r->a = scratch;
    keep(r);
    st = oom_guard(change, r, err);
    if (!st) {
        note_sizes(g);
        return VPU_OK;
    }
    go_back(r);
    if (g->open.ops && g->open.ops->inspect)
        rebind_all(g, NULL); /* what was bound once */
    return st;
}

/* Expressions leave texts in the graph's arena, which nobody needs then. */
static vpu_status resize(void *user, vpu_error *err)
{
    resizing *r = user;
    vpu_graph *g = r->g;
    arena_mark m;
    vpu_status st;

    api_result_settle(g);
    own_arguments(g);
    m = arena_save(g->arena);
    g->resizing = true;
    st = oom_scratch(resize_with, r, err);
    arena_restore(g->arena, m);
    return st;
}

vpu_status vpu_graph_resize(vpu_graph *self, vpu_tensor *const *inputs,
                            const vpu_shape *shapes, size_t n, vpu_error *err)
{
    resizing r = {.g = self, .inputs = inputs, .shapes = shapes, .n = n};
    vpu_status st = api_need(self, "graph", err);

    if (!st && n)
        st = api_need(inputs, "inputs", err);
    if (!st && n)
        st = api_need(shapes, "shapes", err);
    if (!st && !self->open.ops)
        st = err_set(err, VPU_ERR_INVALID,
                     "the graph is not finalized: vpu_graph_finalize");
    if (st)
        return st;
    st = oom_guard(resize, &r, err);
    self->resizing = false;
    if (!st)
        self->ran = false;
    return st;
}
