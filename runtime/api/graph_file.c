/* Graphs in files. */
#include <string.h>

#include "base/oom.h"
#include "runtime/api/layout.h"
#include "runtime/backend/whole.h"
#include "runtime/graphfile/graphfile.h"

/* --- saving --------------------------------------------------------------- */

typedef struct {
    vpu_graph *g;
    const char *path;
    const vpu_graph_save_options *o;
    arena *a;
    graphfile f;
} saving;

static uint32_t count_tensors(const vpu_graph *g)
{
    uint32_t n = g->n_views;

    for (size_t i = 0; i < g->n_tensors; i++)
        n += g->tensors[i] != NULL;
    return n;
}

/* Place of a tensor among those of the file. */
static uint32_t index_of(const vpu_graph *g, const vpu_tensor *t)
{
    uint32_t n = 0, behind = 0;

    if (t->parent) {
        for (const vpu_tensor *v = t->next; v; v = v->next)
            n++; /* earlier views */
        for (size_t i = 0; i < g->n_tensors; i++)
            behind += g->tensors[i] != NULL;
        return behind + n;
    }
    for (size_t i = 0; i < t->buffer; i++)
        n += g->tensors[i] != NULL;
    return n;
}

static graphfile_tensor tensor_of(const vpu_graph *g, const vpu_tensor *t)
{
    graphfile_tensor x = {.name = t->name,
                          .buffer = t->buffer,
                          .is_virtual = t->role == VPU_ROLE_VIRTUAL,
                          .rank = t->rank,
                          .parent = t->parent ? index_of(g, t->parent)
                                              : GRAPHFILE_NONE,
                          .offset = t->offset,
                          .bytes = t->bytes};

    memcpy(x.dims, t->dims, t->rank * sizeof *t->dims);
    if (t->parent)
        return x;
    x.has_strides = t->has_gaps;
    x.has_valid = memcmp(t->valid.end, t->dims, sizeof t->dims) != 0;
    for (uint32_t i = 0; i < t->rank; i++) {
        x.strides[i] = t->has_gaps ? t->strides[i] : 0;
        x.has_valid |= t->valid.start[i] != 0;
        x.valid_start[i] = t->valid.start[i];
        x.valid_end[i] = t->valid.end[i];
    }
    return x;
}

static void take_tensors(saving *s)
{
    const vpu_graph *g = s->g;
    uint32_t n = count_tensors(g);
    graphfile_tensor *list = arena_array(s->a, graphfile_tensor, n + 1);

    for (size_t i = 0; i < g->n_tensors; i++)
        if (g->tensors[i])
            list[index_of(g, g->tensors[i])] = tensor_of(g, g->tensors[i]);
    for (const vpu_tensor *v = g->views; v; v = v->next)
        list[index_of(g, v)] = tensor_of(g, v);
    s->f.tensors = list;
    s->f.n_tensors = n;
}

static const uint32_t *indices_of(const saving *s, vpu_tensor *const *list,
                                  size_t n)
{
    uint32_t *out = arena_array(s->a, uint32_t, n + 1);

    for (size_t i = 0; i < n; i++)
        out[i] = index_of(s->g, list[i]);
    return out;
}

static uint32_t place_of(const vpu_graph *g, const vpu_operation *op)
{
    uint32_t n = 0;

    for (const vpu_operation *x = g->operations; x != op; x = x->next)
        n++;
    return n;
}

static void take_operations(saving *s)
{
    const vpu_graph *g = s->g;
    graphfile_operation *list =
        arena_array(s->a, graphfile_operation, g->n_operations + 1);
    uint32_t n = 0;

    for (const vpu_operation *op = g->operations; op; op = op->next)
        list[n++] = (graphfile_operation){
            .name = op->name,
            .launch = op->launch,
            .n_launches = op->n_launches,
            .outer = op->outer ? place_of(g, op->outer) : GRAPHFILE_NONE,
            .composed = op->composed,
            .inputs = indices_of(s, op->inputs, op->n_inputs),
            .outputs = indices_of(s, op->outputs, op->n_outputs),
            .n_inputs = (uint32_t)op->n_inputs,
            .n_outputs = (uint32_t)op->n_outputs};
    s->f.operations = list;
    s->f.n_operations = n;
}

/* A loaded graph's kernels are whole already; once more through the
 * preprocessor they would not be the same bytes. */
static vpu_status take_launches(saving *s, vpu_error *err)
{
    const graph *g = &s->g->g;
    graph_launch *list = arena_array(s->a, graph_launch, g->n_launches + 1);
    const backend_config *cfg = &s->g->context->cfg;
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        list[i] = g->launches[i];
        if (!s->g->loaded || (s->o->compiled && !list[i].bin))
            st = backend_whole(cfg, &g->launches[i], s->o->compiled, s->a,
                               &list[i], err);
    }
    s->f.graph.launches = list;
    return st;
}

static vpu_status check_form(const vpu_graph *g, vpu_error *err)
{
    return g->resized
               ? err_set(err, VPU_ERR_UNSUPPORTED,
                         "the graph was resized: a file holds it at the shapes "
                         "it was made for")
               : VPU_OK;
}

static vpu_status save(void *user, vpu_error *err)
{
    saving *s = user;
    vpu_graph *g = s->g;
    vpu_status st;

    s->a = arena_create(0);
    s->f.graph = g->g;
    s->f.params = g->params;
    s->f.n_params = (uint32_t)g->n_params;
    take_tensors(s);
    take_operations(s);
    st = take_launches(s, err);
    return st ? st : graphfile_write(s->path, &s->f, s->a, err);
}

vpu_status vpu_graph_save(vpu_graph *self, const char *path,
                          const vpu_graph_save_options *options, vpu_error *err)
{
    vpu_graph_save_options o;
    saving s = {.g = self, .path = path, .o = &o};
    vpu_status st = api_need(self, "graph", err);

    if (!st)
        st = api_need(path, "path", err);
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_graph_save_options",
                              err);
    if (!st)
        st = api_hosts_refuse(self, "a file cannot hold it", err);
    if (!st)
        st = api_graph_seal(self, err);
    if (!st)
        st = check_form(self, err);
    if (st)
        return st;
    st = oom_guard(save, &s, err);
    arena_destroy(s.a);
    return st;
}

/* --- loading -------------------------------------------------------------- */

typedef struct {
    vpu_graph *g;
    const char *path;
    graphfile f;
    vpu_tensor **tensors; /* of the file */
} loading;

static uint32_t role_of(graph_role role)
{
    return role == GRAPH_INPUT    ? VPU_ROLE_INPUT
           : role == GRAPH_OUTPUT ? VPU_ROLE_OUTPUT
           : role == GRAPH_CONST  ? VPU_ROLE_CONSTANT
                                  : VPU_ROLE_VIRTUAL;
}

/* The dim of the largest step that is left, of several the one with most
 * elements. */
static uint32_t largest_step(const vpu_tensor *t, const bool *done)
{
    uint32_t best = VPU_MAX_RANK;

    for (uint32_t i = 0; i < t->rank; i++)
        if (!done[i] &&
            (best == VPU_MAX_RANK || t->strides[i] > t->strides[best] ||
             (t->strides[i] == t->strides[best] && t->dims[i] > t->dims[best])))
            best = i;
    return best;
}

/* Where a view is in its root, by steps from the largest on. False: it is not
 * in it. */
static bool place_view(vpu_tensor *t)
{
    const vpu_tensor *root = api_tensor_root_of(t);
    bool fits = t->offset >= root->offset, done[VPU_MAX_RANK] = {false};
    uint64_t rest = t->offset - root->offset;

    memcpy(t->strides, t->parent->strides, sizeof t->strides);
    for (uint32_t n = 0; n < t->rank && fits; n++) {
        uint32_t i = largest_step(root, done);
        uint64_t place = root->dims[i] == 1 ? 0 : rest / t->strides[i];

        done[i] = true;
        fits = place + t->dims[i] <= root->dims[i];
        t->place[i] = (uint32_t)place;
        rest -= place * t->strides[i];
    }
    t->has_gaps = root->has_gaps || !api_layout_is_packed(t);
    return fits && !rest;
}

static void place_root(vpu_tensor *t, const graphfile_tensor *x)
{
    memcpy(t->valid.end, t->dims, sizeof t->dims);
    api_layout_pack_strides(t);
    t->has_gaps = x->has_strides;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (x->has_strides)
            t->strides[i] = x->strides[i];
        if (x->has_valid) {
            t->valid.start[i] = x->valid_start[i];
            t->valid.end[i] = x->valid_end[i];
        }
    }
}

static bool give_tensor(loading *l, uint32_t i)
{
    const graphfile_tensor *x = &l->f.tensors[i];
    const graph_buffer *b = &l->f.graph.buffers[x->buffer];
    vpu_graph *g = l->g;
    vpu_tensor *t = l->tensors[i] = arena_new(g->arena, vpu_tensor);

    *t = (vpu_tensor){.graph = g,
                      .name = x->name,
                      .role = role_of(b->role),
                      .type = (uint32_t)b->desc.dtype + VPU_F16,
                      .rank = x->rank,
                      .buffer = x->buffer,
                      .offset = x->offset,
                      .bytes = x->bytes};
    memcpy(t->dims, x->dims, x->rank * sizeof *x->dims);
    if (x->parent == GRAPHFILE_NONE) {
        t->label = b->label;
        place_root(t, x);
        g->tensors[x->buffer] = t;
        return true;
    }
    t->parent = l->tensors[x->parent];
    t->next = g->views;
    g->views = t;
    g->n_views++;
    return place_view(t);
}

static void give_operations(loading *l)
{
    const graphfile *f = &l->f;
    vpu_graph *g = l->g;
    vpu_operation **list =
        arena_array(g->arena, vpu_operation *, f->n_operations + 1);

    for (uint32_t i = 0; i < f->n_operations; i++) {
        const graphfile_operation *x = &f->operations[i];
        vpu_operation *op = list[i] = arena_new(g->arena, vpu_operation);

        *op = (vpu_operation){
            .graph = g,
            .name = x->name,
            .launch = x->launch,
            .n_launches = x->n_launches,
            .outer = x->outer == GRAPHFILE_NONE ? NULL : list[x->outer],
            .composed = x->composed,
            .ended = x->composed};
        for (uint32_t k = 0; k < x->n_inputs; k++)
            api_operation_reads(op, l->tensors[x->inputs[k]]);
        for (uint32_t k = 0; k < x->n_outputs; k++)
            api_operation_writes(op, l->tensors[x->outputs[k]]);
        *g->last_operation = op;
        g->last_operation = &op->next;
        g->n_operations++;
    }
}

static vpu_status load(void *user, vpu_error *err)
{
    loading *l = user;
    vpu_graph *g = l->g;
    vpu_status st = graphfile_read(l->path, g->arena, &l->f, err);

    if (st)
        return st;
    g->g = l->f.graph;
    g->n_tensors = g->g.n_buffers;
    g->tensors = arena_array(g->arena, vpu_tensor *, g->n_tensors + 1);
    l->tensors = arena_array(g->arena, vpu_tensor *, l->f.n_tensors + 1);
    for (uint32_t i = 0; i < l->f.n_tensors; i++)
        if (!give_tensor(l, i))
            return err_set(err, VPU_ERR_PARSE,
                           "%s: byte %llu: tensors: view %s is not in its "
                           "parent",
                           l->path, (unsigned long long)l->f.manifest_at,
                           l->f.tensors[i].name);
    give_operations(l);
    g->n_params = l->f.n_params;
    g->params = arena_memdup(g->arena, l->f.params,
                             (g->n_params + 1) * sizeof *g->params);
    g->sealed = g->loaded = true;
    st = api_graph_check_flow(g, g->arena, err);
    if (!st)
        return VPU_OK;
    err_in(err, VPU_ERR_PARSE, "%s: byte %llu: launches", l->path,
           (unsigned long long)l->f.manifest_at);
    if (err)
        err->code = VPU_ERR_PARSE;
    return VPU_ERR_PARSE;
}

vpu_status vpu_graph_load(vpu_graph **out, vpu_context *context,
                          const char *path, vpu_error *err)
{
    loading l = {.path = path};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(path, "path", err);
    if (!st)
        st = vpu_graph_create(&l.g, context, err);
    if (!st)
        st = oom_guard(load, &l, err);
    if (st)
        vpu_graph_free(l.g);
    else
        *out = l.g;
    return st;
}
