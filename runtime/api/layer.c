/* Operations that are layers of binding files. */
#include <string.h>

#include "base/oom.h"
#include "runtime/api/layout.h"
#include "runtime/import/layer.h"

typedef struct {
    vpu_graph *g;
    const vpu_layer_options *o;
    graph_layer *bound; /* of the operation */
    uint32_t *buffer;   /* of the graph, for each of the layer's */
    vpu_operation *made;
} adding;

/* --- what is asked for ---------------------------------------------------- */

static graph_texts copy_texts(arena *a, const char *const *items, size_t n)
{
    return (graph_texts){api_copy_list(a, items, n), n};
}

static vpu_status shape_of(const vpu_tensor *t, bool output, uint32_t port,
                           graph_shape *out, vpu_error *err)
{
    if (t->parent)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "tensor %s is a view; a layer of a binding file takes "
                       "whole tensors: copy it first (kind copy)",
                       t->name);
    if (t->rank > TENSOR_MAX_RANK)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "tensor %s has %u dims; a layer of a binding file takes "
                       "up to %d",
                       t->name, t->rank, TENSOR_MAX_RANK);
    *out = (graph_shape){.output = output,
                         .port = port,
                         .desc = t->graph->g.buffers[t->buffer].desc};
    return VPU_OK;
}

static vpu_status texts_of(const adding *x, graph_layer_texts *t,
                           vpu_error *err)
{
    const vpu_layer_options *o = x->o;
    arena *a = x->g->arena;
    graph_shape *more = arena_array(a, graph_shape, o->n_inputs + 2);
    vpu_status st = VPU_OK;

    *t = (graph_layer_texts){
        .bindings = copy_texts(a, o->bindings, o->n_bindings),
        .type = arena_strdup(a, o->layer),
        .only_type = o->any_layer,
        .number = o->number,
        .shapes = copy_texts(a, o->shapes, o->n_shapes),
        .more_shapes = more,
        .params = copy_texts(a, o->params, o->n_params),
        .blobs = copy_texts(a, o->blobs, o->n_blobs),
        .paddings = copy_texts(a, o->paddings, o->n_paddings),
        .custom = arena_strdup(a, o->custom),
        .openvino = arena_strdup(a, o->openvino),
        .model = arena_strdup(a, o->model),
        .at = arena_strdup(a, o->at),
        .release = x->g->context->release,
        .batch =
            o->batch_by_item || (x->g->context->ops->stick && !o->batch_whole)
                ? GRAPH_BATCH_DEVICE
                : GRAPH_BATCH_WHOLE};
    for (size_t i = 0; i < o->n_inputs && !st; i++)
        if (o->inputs[i])
            st = shape_of(o->inputs[i], false, (uint32_t)i,
                          &more[t->n_more_shapes++], err);
    if (!st && o->output)
        st = shape_of(o->output, true, 0, &more[t->n_more_shapes++], err);
    return st;
}

/* --- what came, in the graph ---------------------------------------------- */

/* The tensor that the caller gave for a buffer of the layer; NULL: none. */
static vpu_tensor *given_for(const adding *x, const graph_buffer *b)
{
    if (b->role == GRAPH_INPUT && b->port < x->o->n_inputs)
        return x->o->inputs[b->port];
    return b->role == GRAPH_OUTPUT && b->port == 0 ? x->o->output : NULL;
}

static bool same_shape(const tensor_desc *p, const tensor_desc *q)
{
    return p->dtype == q->dtype && p->rank == q->rank &&
           !memcmp(p->dims, q->dims, p->rank * sizeof *p->dims);
}

static vpu_status take_given(const adding *x, const graph_buffer *b,
                             const vpu_tensor *t, vpu_error *err)
{
    const tensor_desc *has = &x->g->g.buffers[t->buffer].desc;
    arena *a = x->g->arena;

    if (same_shape(has, &b->desc))
        return VPU_OK;
    return err_set(err, VPU_ERR_MISMATCH,
                   "%s of layer %s is %s, but tensor %s is %s", b->name,
                   x->bound->graph->layer, tensor_desc_text(a, &b->desc),
                   t->name, tensor_desc_text(a, has));
}

static uint32_t role_of(const adding *x, const graph_buffer *b)
{
    if (b->role == GRAPH_INPUT)
        return VPU_ROLE_INPUT;
    if (b->role == GRAPH_OUTPUT)
        return x->o->virtual_output ? VPU_ROLE_VIRTUAL : VPU_ROLE_OUTPUT;
    return 0;
}

static void add_new(adding *x, uint32_t i)
{
    const graph_buffer *b = &x->bound->graph->buffers[i];
    api_new_tensor n = {.name = b->name,
                        .of = x->made->name,
                        .label = b->label,
                        .role = role_of(x, b),
                        .buffer = *b};

    if (n.role == VPU_ROLE_VIRTUAL)
        n.buffer.role = GRAPH_SCRATCH;
    x->buffer[i] = x->g->g.n_buffers;
    api_graph_add_buffer(x->g, &n);
}

static vpu_status add_buffers(adding *x, vpu_error *err)
{
    const graph *lg = x->bound->graph;
    vpu_status st = VPU_OK;

    x->buffer = arena_array(x->g->arena, uint32_t, lg->n_buffers + 1);
    for (uint32_t i = 0; i < lg->n_buffers && !st; i++) {
        const graph_buffer *b = &lg->buffers[i];
        vpu_tensor *t = given_for(x, b);

        if (t) {
            st = take_given(x, b, t, err);
            x->buffer[i] = t->buffer;
        } else {
            add_new(x, i);
        }
        t = x->g->tensors[x->buffer[i]];
        if (b->role == GRAPH_INPUT)
            api_operation_reads(x->made, t);
        else if (b->role == GRAPH_OUTPUT)
            api_operation_writes(x->made, t);
    }
    return st;
}

static void add_launches(const adding *x)
{
    const graph *lg = x->bound->graph;
    arena *a = x->g->arena;

    for (uint32_t i = 0; i < lg->n_launches; i++) {
        graph_launch *l = api_graph_add_launch(x->g);
        graph_arg *args;

        *l = lg->launches[i];
        args = arena_memdup(a, l->args, l->n_args * sizeof *args);
        for (uint32_t k = 0; k < l->n_args; k++)
            if (args[k].kind == GRAPH_ARG_BUFFER)
                args[k].buffer = x->buffer[args[k].buffer];
        l->args = args;
    }
}

/* What layers of a network have written, if that is all there is. */
static void add_outputs(const adding *x)
{
    const graph *lg = x->bound->graph;
    graph *g = &x->g->g;

    g->n_layers = x->g->n_operations == 1 ? lg->n_layers : 0;
    g->layers = arena_memdup(x->g->arena, lg->layers,
                             lg->n_layers * sizeof *lg->layers);
    for (uint32_t i = 0; i < g->n_layers; i++) {
        g->layers[i].buffer = x->buffer[lg->layers[i].buffer];
        g->layers[i].launch += x->made->launch;
    }
}

static void describe(const adding *x)
{
    const graph *lg = x->bound->graph;
    graph *g = &x->g->g;

    api_graph_describe(x->g, lg->layer, lg->type);
    g->form = x->g->n_operations == 1 ? lg->form : g->form;
    g->blob = x->g->n_operations == 1 ? lg->blob : NULL;
    g->n_blob = lg->n_blob;
    g->network = g->blob ? lg->network : NULL;
    g->openvino = lg->openvino;
    for (uint32_t i = 0; i < x->bound->n_params; i++)
        *arena_append(x->g->arena, x->g->params, x->g->n_params,
                      x->g->params_cap) = x->bound->params[i];
    g->batch = lg->batch > g->batch ? lg->batch : g->batch;
    g->by_item |= lg->by_item;
}

/* A plug-in looks at parameters itself. */
static vpu_status check_params(const vpu_graph *g, const graph_request *r,
                               vpu_error *err)
{
    return backend_extras(g->context->ops) & BACKEND_PARAMS
               ? VPU_OK
               : graph_check_params(r, g->arena, err);
}

/* Did anybody say what the output is like? */
static bool output_given(const vpu_layer_options *o, const graph_request *r)
{
    for (size_t i = 0; i < o->n_shapes; i++)
        if (!strncmp(o->shapes[i], "out", 3))
            return true;
    return o->model || o->output || !r->binding;
}

/* A model's layers have the shapes that the model gives them. */
static void keep_recipe(const adding *x, const graph_layer_texts *texts)
{
    api_layer_recipe *r;
    const vpu_operation *op = x->made;

    if (x->o->model || !x->bound->request.binding)
        return;
    r = arena_new(x->g->arena, api_layer_recipe);
    *r = (api_layer_recipe){
        .texts = *texts, .bound = x->bound->graph, .buffer = x->buffer};
    if (op->n_inputs && op->n_outputs == 1) {
        const vpu_tensor *in = op->inputs[0], *out = op->outputs[0];

        r->output_as_input =
            in->rank == out->rank &&
            !memcmp(in->dims, out->dims, in->rank * sizeof *in->dims);
    }
    x->made->layer = r;
}

static vpu_status add_layer(void *user, vpu_error *err)
{
    adding *x = user;
    graph_layer_texts texts;
    vpu_status st = texts_of(x, &texts, err);

    x->bound = arena_new(x->g->arena, graph_layer);
    if (!st)
        st = import_layer_bind(
            &texts,
            &(const import_config){.kernels = x->g->context->cfg.source_dir,
                                   .no_cache =
                                       x->g->context->cfg.compile.no_cache},
            x->g->arena, x->g->context->cfg.log, x->bound, err);
    if (!st && !x->o->any_params)
        st = check_params(x->g, &x->bound->request, err);
    if (st)
        return st;
    x->made = api_graph_add_operation(x->g, x->o->name ? x->o->name
                                                       : x->bound->graph->type);
    st = add_buffers(x, err);
    if (st)
        return st;
    add_launches(x);
    add_outputs(x);
    x->made->n_launches = x->g->g.n_launches - x->made->launch;
    x->made->output_assumed = !output_given(x->o, &x->bound->request);
    x->made->request = &x->bound->request;
    keep_recipe(x, &texts);
    describe(x);
    return VPU_OK;
}

/* --- once more, with other shapes ----------------------------------------- */

static vpu_status needs_another(const vpu_operation *op, const char *why,
                                vpu_error *err)
{
    return err_set(err, VPU_ERR_UNSUPPORTED,
                   "layer %s %s for this shape: make another graph", op->name,
                   why);
}

/* The shapes that the operation's tensors have now, instead of all that were
 * given. */
static vpu_status shapes_now(const vpu_operation *op, graph_layer_texts *t,
                             vpu_error *err)
{
    const api_layer_recipe *r = op->layer;
    arena *a = op->graph->arena;
    graph_shape *list = arena_array(a, graph_shape, r->bound->n_buffers + 1);
    vpu_status st = VPU_OK;

    *t = r->texts;
    t->shapes = (graph_texts){NULL, 0};
    t->more_shapes = list;
    t->n_more_shapes = 0;
    for (uint32_t i = 0; i < r->bound->n_buffers && !st; i++) {
        const graph_buffer *b = &r->bound->buffers[i];
        const vpu_tensor *now = op->graph->tensors[r->buffer[i]];
        graph_shape *s = &list[t->n_more_shapes];

        if (b->role != GRAPH_INPUT)
            continue;
        st = shape_of(now, false, b->port, s, err);
        memcpy(s->desc.dims, now->dims, now->rank * sizeof *now->dims);
        t->n_more_shapes++;
    }
    return st;
}

static vpu_status take_buffers(const vpu_operation *op, const graph *now,
                               vpu_error *err)
{
    const api_layer_recipe *r = op->layer;
    vpu_graph *g = op->graph;
    vpu_status st = VPU_OK;

    if (now->n_buffers != r->bound->n_buffers)
        return needs_another(op, "has other buffers", err);
    for (uint32_t i = 0; i < now->n_buffers && !st; i++) {
        const graph_buffer *b = &now->buffers[i];
        vpu_tensor *t = g->tensors[r->buffer[i]];

        if (t && b->role != GRAPH_INPUT && b->role != GRAPH_CONST)
            st = api_resize_tensor(t, b->desc.dims, err);
        else if (b->bytes > g->g.buffers[r->buffer[i]].bytes)
            st = err_set(err, VPU_ERR_LIMIT,
                         "layer %s: %s takes %llu bytes, more than the %llu "
                         "that the graph was finalized with",
                         op->name, b->name, (unsigned long long)b->bytes,
                         (unsigned long long)g->g.buffers[r->buffer[i]].bytes);
    }
    return st;
}

static bool same_text(const char *p, const char *q)
{
    return p == q || (p && q && !strcmp(p, q));
}

/* The same kernel with the same buffers. */
static bool same_launch(const api_layer_recipe *r, const graph_launch *p,
                        const graph_launch *q)
{
    bool same = same_text(p->name, q->name) && same_text(p->entry, q->entry) &&
                same_text(p->macros, q->macros) && p->n_args == q->n_args &&
                p->n_options == q->n_options;

    for (uint32_t i = 0; i < p->n_options && same; i++)
        same = same_text(p->options[i], q->options[i]);
    for (uint32_t i = 0; i < p->n_args && same; i++)
        same = p->args[i].kind == q->args[i].kind &&
               (p->args[i].kind != GRAPH_ARG_BUFFER ||
                p->args[i].buffer == r->buffer[q->args[i].buffer]);
    return same;
}

static void take_launch(graph_launch *l, const graph_launch *now)
{
    graph_arg *args = (graph_arg *)(uintptr_t)l->args;

    memcpy(l->global, now->global, sizeof l->global);
    memcpy(l->local, now->local, sizeof l->local);
    l->tuned = false;
    for (uint32_t i = 0; i < l->n_args; i++) {
        args[i].offset = now->args[i].offset;
        args[i].items = now->args[i].items;
        args[i].bytes = now->args[i].bytes;
        args[i].integer = now->args[i].integer;
        args[i].real = now->args[i].real;
    }
}

vpu_status api_layer_again(vpu_operation *op, vpu_error *err)
{
    const api_layer_recipe *r = op->layer;
    vpu_graph *g = op->graph;
    graph_layer *now = arena_new(g->arena, graph_layer);
    graph_layer_texts texts;
    vpu_status st;

    if (!r->output_as_input)
        return needs_another(op,
                             "has an output whose shape does not follow from "
                             "its input",
                             err);
    st = shapes_now(op, &texts, err);
    if (!st)
        st = graph_layer_bind(&texts, g->arena, g->context->cfg.log, now, err);
    if (st)
        return err_in(err, st, "layer %s", op->name);
    if (now->graph->n_launches != op->n_launches)
        return needs_another(op, "has other launches", err);
    for (uint32_t i = 0; i < op->n_launches; i++)
        if (!same_launch(r, &g->g.launches[op->launch + i],
                         &now->graph->launches[i]))
            return needs_another(op, "has other launches", err);
    st = take_buffers(op, now->graph, err);
    for (uint32_t i = 0; i < op->n_launches && !st; i++)
        take_launch(&g->g.launches[op->launch + i], &now->graph->launches[i]);
    return st;
}

static vpu_status refuse_gaps(const vpu_layer_options *o, const vpu_tensor *t,
                              vpu_error *err)
{
    return api_layout_refuse_gaps(t, o->name ? o->name : "the layer",
                                  "the kernels of a layer know of none, kind "
                                  "copy makes a tensor in one piece",
                                  err);
}

static vpu_status check_lists(const vpu_graph *g, const vpu_layer_options *o,
                              vpu_error *err)
{
    const struct {
        const void *list;
        size_t n;
        const char *name;
    } lists[] = {{o->bindings, o->n_bindings, "bindings"},
                 {o->shapes, o->n_shapes, "shapes"},
                 {o->params, o->n_params, "params"},
                 {o->blobs, o->n_blobs, "blobs"},
                 {o->paddings, o->n_paddings, "paddings"},
                 {o->inputs, o->n_inputs, "inputs"}};
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < sizeof lists / sizeof *lists && !st; i++)
        if (lists[i].n)
            st = api_need(lists[i].list, lists[i].name, err);
    if (!st && !o->n_bindings)
        st = err_set(err, VPU_ERR_INVALID,
                     "vpu_layer_options: no binding file is given");
    for (size_t i = 0; i < o->n_inputs && !st; i++)
        if (o->inputs[i] && o->inputs[i]->graph != g)
            st = err_set(err, VPU_ERR_INVALID,
                         "input %zu, %s, is of another "
                         "graph",
                         i, o->inputs[i]->name);
    if (!st && o->output && o->output->graph != g)
        st = err_set(err, VPU_ERR_INVALID, "output %s is of another graph",
                     o->output->name);
    for (size_t i = 0; i < o->n_inputs && !st; i++)
        if (o->inputs[i])
            st = refuse_gaps(o, o->inputs[i], err);
    if (!st && o->output)
        st = refuse_gaps(o, o->output, err);
    if (!st && o->model && (o->n_shapes || o->n_inputs || o->output))
        st = err_set(err, VPU_ERR_INVALID,
                     "vpu_layer_options: a model has its own shapes and "
                     "tensors");
    if (!st && o->batch_by_item && o->batch_whole)
        st = err_set(err, VPU_ERR_INVALID,
                     "vpu_layer_options: batch_by_item and batch_whole exclude "
                     "each other");
    if (!st && o->at && !o->model)
        st = err_set(err, VPU_ERR_INVALID,
                     "vpu_layer_options: `at` needs a model");
    return st;
}

vpu_status vpu_graph_add_layer(vpu_graph *self,
                               const vpu_layer_options *options,
                               vpu_operation **out, vpu_error *err)
{
    vpu_layer_options o;
    adding x = {.g = self, .o = &o};
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(self, "graph", err);
    if (!st)
        st = api_graph_needs_open(self, err);
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_layer_options", err);
    if (!st)
        st = check_lists(self, &o, err);
    if (!st)
        st = api_graph_change(self, add_layer, &x, err);
    if (!st)
        *out = x.made;
    return st;
}

/* --- parameters ----------------------------------------------------------- */

typedef struct {
    const vpu_operation *op;
    const char *const *params;
    size_t n_params;
} asking;

static vpu_status ask_params(void *user, vpu_error *err)
{
    const asking *x = user;
    graph_request r = *x->op->request;
    arena *a = arena_create(0);
    config_param *params = arena_array(a, config_param, x->n_params + 1);
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < x->n_params && !st; i++)
        st = graph_param_parse(x->params[i], a, &params[i], err);
    r.params = params;
    r.n_params = (uint32_t)x->n_params;
    if (!st && !(backend_extras(x->op->graph->context->ops) & BACKEND_PARAMS))
        st = graph_check_params(&r, a, err);
    arena_destroy(a);
    return st;
}

vpu_status vpu_operation_check_params(const vpu_operation *operation,
                                      const char *const *params,
                                      size_t n_params, vpu_error *err)
{
    asking x = {operation, params, n_params};
    vpu_status st = api_need(operation, "operation", err);

    if (!st && n_params)
        st = api_need(params, "params", err);
    if (!st && !operation->request)
        st = err_set(err, VPU_ERR_INVALID,
                     "operation %s is no layer of a binding file",
                     operation->name);
    return st ? st : oom_guard(ask_params, &x, err);
}
