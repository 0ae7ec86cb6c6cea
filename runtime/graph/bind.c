/* Stages of the chosen implementation: their arguments, sizes and launches. */
#include "runtime/graph/bind.h"

#include <string.h>

#include "base/str.h"
#include "runtime/graph/bind_priv.h"

/* A scratch buffer of the layer. */
typedef struct {
    uint32_t port, buffer;
    int64_t producer; /* stage that writes it, or -1 */
} scratch;

/* A Data binding's blob. */
typedef struct {
    const config_blob *blob;
    uint32_t buffer;
} placed_blob;

typedef struct {
    graph_binder *b;
    const graph_stage *s; /* being laid out */
    size_t s_index;
    const char *name;         /* of the stage */
    uint32_t n_in, n_out;     /* its edges so far */
    graph_place last_written; /* where the output is written; stage NULL: not */
    bool *read;               /* by input port */
    scratch *scratch;
    size_t n_scratch, cap_scratch;
    placed_blob *data;
    size_t n_data, cap_data;
} layout;

static graph_place place_of(const layout *l, const config_binding *x,
                            uint32_t edge)
{
    return (graph_place){l->name, edge, l->s->layer->path, x->line};
}

static bool format_has_rank(config_format f, uint32_t rank)
{
    switch (f) {
    case CONFIG_BYXF:
    case CONFIG_BFYX:
        return rank == 4 || rank == 5;
    case CONFIG_YXF:
    case CONFIG_FYX:
        return rank == 3;
    default:
        return true;
    }
}

/* The memory order a format asks for; the rank must fit. BF and ANY take the
 * tensor as it stands. */
static vpu_status format_order(const layout *l, const config_binding *x,
                               const tensor_desc *d, tensor_layout *out)
{
    bool four = x->format == CONFIG_BYXF || x->format == CONFIG_BFYX;

    *out = d->layout;
    if (x->format == CONFIG_BF || x->format == CONFIG_ANY)
        return VPU_OK;
    *out = x->format == CONFIG_BYXF || x->format == CONFIG_YXF
               ? TENSOR_CHANNEL_MINOR
               : TENSOR_PLAIN;
    if (format_has_rank(x->format, d->rank))
        return VPU_OK;
    return graph_fail(l->b, l->s->layer->path, x->line,
                      "argument %s: format %s needs a tensor of rank %s, %s%d "
                      "is %s",
                      x->arg, config_format_name(x->format),
                      four ? "4 or 5" : "3",
                      x->kind == CONFIG_INPUT ? "in" : "out", (int)x->port,
                      tensor_desc_text(l->b->arena, d));
}

/* A Data binding. A missing blob is not an error yet: VPU_OK and broken. */
static vpu_status bind_data(layout *l, const config_binding *x, graph_arg *arg)
{
    const graph_target *t = &l->b->target;
    const char *path = l->s->layer->path;
    const config_blob *blob = NULL;
    bool by_hand = !l->b->request->model;
    graph_buffer add = {.role = GRAPH_CONST};
    graph_place at = place_of(l, x, 0);
    tensor_dtype stored;
    uint64_t n;
    vpu_status st;

    for (size_t i = 0; i < t->n_blobs; i++)
        if (!strcmp(t->blobs[i].name, x->source.text)) {
            blob = &t->blobs[i];
            add.port = (uint32_t)i;
        }
    if (!blob)
        return graph_fail(
            l->b, path, x->source.line,
            "argument %s: layer %s has no blob '%s'%s%s%s", x->arg, t->name,
            x->source.text, by_hand ? "; give it with --blob " : "",
            by_hand ? x->source.text : "", by_hand ? "=FILE.npy" : "");
    if (!tensor_dtype_parse(blob->precision, &stored) ||
        (stored != TENSOR_F16 && stored != TENSOR_F32))
        return graph_fail(l->b, path, x->source.line,
                          "argument %s: unsupported precision '%s' of blob "
                          "'%s'; supported are FP16 and FP32",
                          x->arg, blob->precision, blob->name);
    n = blob->bytes / tensor_dtype_bytes(stored);
    if (!n || n > UINT32_MAX)
        return graph_fail(l->b, path, x->source.line,
                          "argument %s: blob '%s' has %llu elements", x->arg,
                          blob->name, (unsigned long long)n);
    arg->kind = GRAPH_ARG_BUFFER;
    for (uint32_t i = 0; i < l->n_data; i++)
        if (l->data[i].blob == blob) {
            arg->buffer = l->data[i].buffer;
            return VPU_OK;
        }
    add.name = graph_local_name(l->b, blob->name);
    add.desc =
        (tensor_desc){.dtype = TENSOR_F16, .rank = 1, .dims = {(uint32_t)n}};
    add.init = graph_const_elements(l->b->arena, blob, n);
    st = graph_add_buffer(l->b, add, &at, &arg->buffer);
    *arena_append(l->b->arena, l->data, l->n_data, l->cap_data) =
        (placed_blob){blob, arg->buffer};
    return st;
}

/* --- tensors and scratch ------------------------------------------------- */

static vpu_status bind_input(layout *l, const config_binding *x, graph_arg *arg)
{
    graph_place at = place_of(l, x, l->n_in++);
    graph_data *d;
    tensor_layout order;
    vpu_status st;

    if ((size_t)x->port >= l->b->target.n_inputs)
        return graph_fail(l->b, at.path, x->line,
                          "argument %s is bound to input port %d, but layer %s "
                          "has %zu",
                          x->arg, (int)x->port, l->b->target.name,
                          l->b->target.n_inputs);
    d = l->b->target.inputs[x->port];
    l->read[x->port] = true;
    arg->kind = GRAPH_ARG_BUFFER;
    st = format_order(l, x, &d->desc, &order);
    return st ? st : graph_read_data(l->b, d, order, &at, &arg->buffer);
}

static vpu_status bind_output(layout *l, const config_binding *x,
                              graph_arg *arg)
{
    graph_place at = place_of(l, x, l->n_out++);
    tensor_desc plain = l->b->target.output->desc;
    tensor_layout order;
    bool agrees;
    vpu_status st;

    /* ANY writes the order of the model, whatever others write. */
    plain.layout = TENSOR_PLAIN;
    st = format_order(l, x, &plain, &order);
    if (st)
        return st;
    arg->kind = GRAPH_ARG_BUFFER;
    arg->written = true;
    l->last_written = at;
    st = graph_write_data(l->b, l->b->target.output, order, &at, &arg->buffer,
                          &agrees);
    if (agrees)
        return st;
    return graph_fail(l->b, at.path, x->line,
                      "argument %s writes output 0 as %s, another kernel or "
                      "argument in a different order; expected one format",
                      x->arg, config_format_name(x->format));
}

static vpu_status new_scratch(layout *l, const config_binding *x, uint32_t size,
                              const graph_place *at, scratch **out)
{
    graph_buffer add = {
        .role = GRAPH_SCRATCH,
        .port = (uint32_t)x->port,
        .untyped = true,
        .desc = {.dtype = TENSOR_F16, .rank = 4, .dims = {1, 1, 1, size}}};
    scratch *c =
        arena_append(l->b->arena, l->scratch, l->n_scratch, l->cap_scratch);

    *c = (scratch){.port = add.port, .producer = -1};
    *out = c;
    add.name =
        graph_local_name(l->b, arena_printf(l->b->arena, "buffer%u", add.port));
    return graph_add_buffer(l->b, add, at, &c->buffer);
}

/* Scratch is keyed by port-index and shared by the stages; the first definition
 * fixes its size. */
static vpu_status bind_scratch(layout *l, const config_binding *x,
                               graph_arg *arg)
{
    bool writes = x->kind == CONFIG_OUTPUT_BUFFER;
    graph_place at = place_of(l, x, writes ? l->n_out++ : l->n_in++);
    uint32_t port = (uint32_t)x->port, size, first;
    scratch *c = NULL;
    vpu_status st = graph_binding_size(l->b, l->s, x, &size);

    for (size_t i = 0; i < l->n_scratch && !c; i++)
        if (l->scratch[i].port == port)
            c = &l->scratch[i];
    if (!st && !c)
        st = new_scratch(l, x, size, &at, &c);
    if (st)
        return st;
    arg->kind = GRAPH_ARG_BUFFER;
    arg->written = writes;
    arg->buffer = c->buffer;
    first = l->b->graph->buffers[c->buffer].desc.dims[3];
    if (first != size)
        log_warn(l->b->log,
                 "%s:%u: buffer %u has %u halves here and %u where it is "
                 "first defined; the first counts",
                 at.path, x->line, port, size, first);
    if (writes && c->producer >= 0)
        return graph_fail(l->b, at.path, x->line,
                          "buffer %u has two output_buffer bindings; exactly "
                          "one may write it",
                          port);
    if (!writes && (c->producer < 0 || c->producer == (int64_t)l->s_index))
        return graph_fail(l->b, at.path, x->line,
                          "argument %s reads buffer %u, which no earlier stage "
                          "writes (an output_buffer with port-index=\"%u\")",
                          x->arg, port, port);
    if (writes)
        c->producer = (int64_t)l->s_index;
    return VPU_OK;
}

/* --- launches ------------------------------------------------------------ */

/* Keep the message of a failure for whoever needs the argument. */
static void make_broken(layout *l, const vpu_error *why, graph_arg *arg)
{
    arg->kind = GRAPH_ARG_BROKEN;
    arg->why = arena_strdup(l->b->arena, why->msg);
}

static vpu_status bind_arg(layout *l, const config_binding *x, graph_arg *arg)
{
    vpu_error *saved = l->b->err, why = {0};
    vpu_status st = VPU_OK;

    *arg = (graph_arg){.name = x->arg, .line = x->line};
    switch (x->kind) {
    case CONFIG_INPUT:
        return bind_input(l, x, arg);
    case CONFIG_OUTPUT:
        return bind_output(l, x, arg);
    case CONFIG_INPUT_BUFFER:
    case CONFIG_OUTPUT_BUFFER:
        return bind_scratch(l, x, arg);
    default:
        break;
    }
    l->b->err = &why;
    if (x->kind == CONFIG_DATA) {
        st = bind_data(l, x, arg);
    } else if (x->kind == CONFIG_LOCAL_DATA) {
        arg->kind = GRAPH_ARG_LOCAL;
        st = graph_binding_size(l->b, l->s, x, &arg->bytes);
    } else {
        st = graph_scalar(l->b, l->s, x, arg);
    }
    l->b->err = saved;
    if (st)
        make_broken(l, &why, arg);
    return VPU_OK;
}

static vpu_status check_sizes(const layout *l, const graph_launch *x)
{
    const config_kernel *k = l->s->kernel;
    const char *path = l->s->layer->path;

    for (int i = 0; i < 3; i++) {
        if (x->global[i] < x->local[i])
            return graph_fail(l->b, path, k->global.line,
                              "dimension %d: global size %u is below the local "
                              "size %u, so there is no work-group "
                              "(global=\"%s\" local=\"%s\")",
                              i, x->global[i], x->local[i], k->global.text,
                              k->local.text);
        if (x->global[i] % x->local[i])
            log_warn(l->b->log,
                     "%s:%u: dimension %d: global size %u is not a multiple of "
                     "the local size %u; %u groups run and the last %u "
                     "work-items do not, as on the device",
                     path, k->global.line, i, x->global[i], x->local[i],
                     x->global[i] / x->local[i], x->global[i] % x->local[i]);
    }
    return VPU_OK;
}

/* The vendor's compiler splits a batch at the first edge; a first edge of
 * format ANY stops it. */
static vpu_status check_batch(const layout *l)
{
    const config_kernel *k = l->s->kernel;
    config_context c = graph_context(l->b, l->s->layer);

    for (size_t i = 0; i < k->n_bindings; i++) {
        const config_binding *x = &k->bindings[i];
        const tensor_desc *d;

        if (x->kind != CONFIG_INPUT && x->kind != CONFIG_INPUT_BUFFER)
            continue;
        if (x->kind != CONFIG_INPUT || x->format != CONFIG_ANY)
            return VPU_OK;
        d = &l->b->target.inputs[x->port]->desc;
        if (d->rank < 4 || d->dims[0] == 1)
            return VPU_OK;
        return config_refused_by(
            &c, CONFIG_RELEASES, x->line, 0, "fail to split it",
            "argument %s: the first input of stage %s has format ANY and a "
            "batch of %u",
            x->arg, l->name, d->dims[0]);
    }
    return VPU_OK;
}

/* It looks at edges in order, Tensors first, then Data, which counts as ANY.
 * All outputs are split, a buffer of the layer too, which has a batch of 1. */
static void mark_split(const config_kernel *k, graph_arg *args)
{
    bool inputs = true;

    for (size_t i = 0; i < k->n_bindings; i++) {
        const config_binding *x = &k->bindings[i];

        if (x->kind == CONFIG_INPUT && x->format == CONFIG_ANY)
            inputs = false;
        args[i].split = x->kind == CONFIG_OUTPUT ||
                        x->kind == CONFIG_OUTPUT_BUFFER ||
                        (x->kind == CONFIG_INPUT && inputs);
    }
}

/* The number of items that the vendor's compiler splits a stage into, 1 = none;
 * all tensors that it splits must agree. */
static vpu_status count_items(const layout *l, const graph_launch *x,
                              uint32_t *n)
{
    const graph_arg *first = NULL;

    *n = 1;
    for (uint32_t i = 0; i < x->n_args; i++) {
        const graph_arg *g = &x->args[i];
        const tensor_desc *d;
        uint32_t here;

        if (g->kind != GRAPH_ARG_BUFFER || !g->split)
            continue;
        d = &l->b->graph->buffers[g->buffer].desc;
        here = d->rank >= 4 ? d->dims[0] : 1;
        if (first && here != *n && l->b->request->batch == GRAPH_BATCH_DEVICE)
            return graph_fail(
                l->b, x->file, g->line,
                "stage %s: '%s' has a batch of %u, '%s'%s one of "
                "%u; the vendor's compiler splits a stage whose "
                "batches are equal (--batch whole does not split)",
                x->name, first->name, *n, g->name,
                l->b->graph->buffers[g->buffer].role == GRAPH_SCRATCH
                    ? ", an output_buffer,"
                    : "",
                here);
        first = g;
        *n = here > *n ? here : *n;
    }
    return VPU_OK;
}

/* One launch for each item, with the work sizes of all. */
static void add_items(layout *l, const graph_launch *all, uint32_t n)
{
    graph_binder *b = l->b;

    for (uint32_t item = 0; item < n; item++) {
        graph_launch x = *all;
        graph_arg *args =
            arena_memdup(b->arena, all->args, all->n_args * sizeof *all->args);

        for (uint32_t i = 0; i < x.n_args; i++) {
            uint64_t bytes;

            if (args[i].kind != GRAPH_ARG_BUFFER || !args[i].split)
                continue;
            bytes = b->graph->buffers[args[i].buffer].bytes;
            args[i].items = n;
            args[i].offset = (uint32_t)(bytes / n * item);
        }
        x.args = args;
        x.name = arena_printf(b->arena, "%s@batch=%u", all->name, item);
        graph_add_launch(b, &x);
    }
}

static vpu_status add_stage(layout *l, const graph_launch *x)
{
    uint32_t n;
    vpu_status st = count_items(l, x, &n);

    if (st)
        return st;
    if (n > l->b->graph->batch)
        l->b->graph->batch = n;
    if (n > 1 && l->b->request->batch == GRAPH_BATCH_DEVICE) {
        add_items(l, x, n);
        return VPU_OK;
    }
    graph_add_launch(l->b, x);
    return VPU_OK;
}

static vpu_status lay_out_stage(layout *l)
{
    const config_kernel *k = l->s->kernel;
    graph_binder *b = l->b;
    graph_arg *args = arena_array(b->arena, graph_arg, k->n_bindings);
    graph_launch x = {.name = b->target.name,
                      .layer = b->target.name,
                      .type = b->target.type,
                      .entry = k->entry,
                      .sources = k->sources,
                      .n_sources = (uint32_t)k->n_sources,
                      .args = args,
                      .n_args = (uint32_t)k->n_bindings,
                      .max_shaves = k->max_shaves,
                      .file = l->s->layer->path,
                      .line = k->line};
    vpu_status st = VPU_OK;

    if (b->n_stages > 1)
        x.name =
            arena_printf(b->arena, "%s@stage_%zu", b->target.name, l->s_index);
    l->name = x.name;
    l->n_in = l->n_out = 0;
    for (size_t i = 0; i < k->n_bindings && !st; i++)
        st = bind_arg(l, &k->bindings[i], &args[i]);
    if (!st)
        st = check_batch(l);
    mark_split(k, args);
    if (!st)
        st = graph_work_size(b, l->s, "global", k->global, x.global);
    if (!st)
        st = graph_work_size(b, l->s, "local", k->local, x.local);
    if (!st)
        st = check_sizes(l, &x);
    return st ? st : add_stage(l, &x);
}

static vpu_status finish_output(const layout *l)
{
    const graph_stage *s = &l->b->stages[0];

    if (l->last_written.stage)
        return graph_finish_data(l->b, l->b->target.output, &l->last_written);
    return graph_fail(l->b, s->layer->path, s->layer->line,
                      "no kernel of CustomLayer %s has a Tensor of type "
                      "output",
                      s->layer->type);
}

static void warn_unread(const layout *l)
{
    for (size_t p = 0; p < l->b->target.n_inputs; p++)
        if (!l->read[p])
            log_warn(l->b->log, "%s:%u: no kernel reads input %zu of layer %s",
                     l->b->stages[0].layer->path, l->b->stages[0].layer->line,
                     p, l->b->target.name);
}

/* The compilers know 2-D to 4-D tensors; ours runs what a kernel can. */
static vpu_status check_ranks(graph_binder *b)
{
    const config_layer *l = b->stages[0].layer;
    config_context c = graph_context(b, l);
    vpu_status st = VPU_OK;

    for (size_t i = 0; i <= b->target.n_inputs && !st; i++) {
        bool is_output = i == b->target.n_inputs;
        const tensor_desc *d =
            is_output ? &b->target.output->desc : &b->target.inputs[i]->desc;

        if (d->rank < 2 || d->rank > 4)
            st = config_refused_by(
                &c, CONFIG_RELEASES, l->line, 0, "refuse it",
                "%s%zu of layer %s is %s, a tensor of rank %u",
                is_output ? "out" : "in", is_output ? 0 : i, b->target.name,
                tensor_desc_text(b->arena, d), d->rank);
    }
    return st;
}

static vpu_status lay_out(graph_binder *b)
{
    layout l = {.b = b,
                .read = arena_array(b->arena, bool, b->target.n_inputs)};
    vpu_status st = check_ranks(b);

    for (size_t i = 0; i < b->n_stages && !st; i++) {
        l.s = &b->stages[i];
        l.s_index = i;
        st = lay_out_stage(&l);
    }
    if (!st)
        st = finish_output(&l);
    if (!st)
        warn_unread(&l);
    return st;
}

/* One of the targets, into the graph. */
static vpu_status bind_target(graph_binder *b, const graph_target *t)
{
    vpu_status st;

    b->target = *t;
    b->vars = NULL;
    b->n_numeric = 0;
    st = graph_select(b);
    if (st)
        return st;
    if (!b->graph->form)
        b->graph->form = config_form_name(b->stages[0].layer->form);
    if (b->stages[0].layer->form == CONFIG_FORM_GPU)
        return graph_lay_out_gpu(b);
    if (b->request->n_paddings)
        return graph_fail(b, b->stages[0].layer->path, b->stages[0].layer->line,
                          "a padding is given, but an MVCL layer has no "
                          "padded tensors (--pad is for SimpleGPU)");
    return lay_out(b);
}

static void name_graph(graph_binder *b, const graph_target *t, size_t n)
{
    str layers = {.arena = b->arena}, types = {.arena = b->arena};

    for (size_t i = 0; i < n; i++) {
        str_printf(&layers, "%s%s", i ? ", " : "", t[i].name);
        str_printf(&types, "%s%s", i ? ", " : "", t[i].type);
    }
    b->graph->layer = str_text(&layers);
    b->graph->type = str_text(&types);
}

vpu_status graph_bind(const graph_request *q, arena *a, const log_sink *log,
                      graph **out, vpu_error *err)
{
    graph_binder b = {.request = q, .arena = a, .log = log, .err = err};
    graph_target *targets;
    size_t n;
    vpu_status st;

    *out = NULL;
    st = graph_find_targets(&b, &targets, &n);
    if (st)
        return st;
    b.graph = arena_new(a, graph);
    b.graph->batch = 1;
    b.graph->by_item = q->batch == GRAPH_BATCH_DEVICE;
    name_graph(&b, targets, n);
    for (size_t i = 0; i < n && !st; i++)
        st = bind_target(&b, &targets[i]);
    if (!st)
        *out = b.graph;
    return st;
}

const char *graph_launch_text(const graph_launch *l, const char *name)
{
    const char *own = l->text ? l->text : l->given;

    if (own && !strcmp(l->sources[0], name))
        return own;
    for (uint32_t i = 0; i < l->n_linked; i++)
        if (!strcmp(l->linked[i].name, name))
            return l->linked[i].text;
    return NULL;
}

vpu_status graph_launch_arg(const graph_launch *l, const char *name,
                            const graph_arg **out, vpu_error *err)
{
    *out = NULL;
    for (uint32_t i = l->n_args; i-- && !*out;)
        if (!strcmp(l->args[i].name, name))
            *out = &l->args[i];
    if (!*out)
        return err_at(err, VPU_ERR_INVALID, l->file, l->line, 0,
                      "XML specification for %s layer has no definition "
                      "for '%s' parameter of kernel %s (layer %s)",
                      l->type, name, l->entry, l->layer);
    if ((*out)->kind == GRAPH_ARG_BROKEN) {
        const char *why = (*out)->why;
        uint32_t line = (*out)->line;

        *out = NULL;
        err_set(err, VPU_ERR_INVALID, "%s", why);
        if (err)
            err->line = line;
        return VPU_ERR_INVALID;
    }
    return VPU_OK;
}
