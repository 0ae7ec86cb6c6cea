/* Buffers and launches of the chosen implementation. */
#include "runtime/graph/bind.h"

#include <string.h>

#include "runtime/graph/bind_priv.h"

typedef struct {
    binder b;
    graph *g;
    size_t cap_buffers;
    size_t n_buffers;
    int64_t *producers; /* by buffer: stage that writes the scratch, or -1 */
    const stage *s;     /* being laid out */
    size_t s_index;
} layout;

static vpu_status add_buffer(layout *l, graph_buffer add, const char *path,
                             uint32_t line, uint32_t *index)
{
    vpu_status st = tensor_desc_check(&add.desc, l->b.err);

    if (st)
        return err_in(l->b.err, st, "%s:%u: buffer %s", path, line, add.name);
    add.bytes = tensor_bytes(&add.desc);
    *index = (uint32_t)l->n_buffers;
    *arena_append(l->b.a, l->g->buffers, l->n_buffers, l->cap_buffers) = add;
    l->g->n_buffers = (uint32_t)l->n_buffers;
    return VPU_OK;
}

static graph_buffer *find_buffer(layout *l, graph_role role, uint32_t port,
                                 tensor_layout order, uint32_t *index)
{
    for (uint32_t i = 0; i < l->g->n_buffers; i++) {
        graph_buffer *x = &l->g->buffers[i];

        if (x->role == role && x->port == port && x->desc.layout == order) {
            *index = i;
            return x;
        }
    }
    return NULL;
}

/* The memory order a format asks for; the rank must fit. */
static vpu_status format_order(const layout *l, const config_binding *x,
                               const tensor_desc *d, tensor_layout *out)
{
    const char *ranks = "3";

    *out = TENSOR_PLAIN;
    switch (x->format) {
    case CONFIG_BYXF:
    case CONFIG_BFYX:
        ranks = "4 or 5";
        if (d->rank >= 4)
            ranks = NULL;
        break;
    case CONFIG_YXF:
    case CONFIG_FYX:
        if (d->rank == 3)
            ranks = NULL;
        break;
    case CONFIG_BF:
    case CONFIG_ANY:
        return VPU_OK;
    }
    if (x->format == CONFIG_BYXF || x->format == CONFIG_YXF)
        *out = TENSOR_CHANNEL_MINOR;
    if (!ranks)
        return VPU_OK;
    return graph_fail(&l->b, l->s->layer->path, x->line,
                      "argument %s: format %s needs a tensor of rank %s, %s%d "
                      "is %s",
                      x->arg, config_format_name(x->format), ranks,
                      x->kind == CONFIG_INPUT ? "in" : "out", (int)x->port,
                      tensor_desc_text(l->b.a, d));
}

/* --- constants -------------------------------------------------------- */

static uint16_t element_as_f16(const config_blob *blob, bool is_f32, size_t i)
{
    const char *p = blob->data;
    uint16_t h;
    float f;

    if (is_f32) {
        memcpy(&f, p + 4 * i, 4);
        return tensor_f32_to_f16(f);
    }
    memcpy(&h, p + 2 * i, 2);
    return h;
}

/* n elements of a blob as the device holds them: floats as halves. */
static void *const_elements(arena *a, const config_blob *blob, size_t n)
{
    tensor_dtype stored = TENSOR_F16;
    uint16_t *out;

    tensor_dtype_parse(blob->precision, &stored);
    if (stored == TENSOR_I32)
        return arena_memdup(a, blob->data, n * 4);
    out = arena_array(a, uint16_t, n);
    for (size_t i = 0; i < n; i++)
        out[i] = element_as_f16(blob, stored == TENSOR_F32, i);
    return out;
}

static vpu_status add_const_input(layout *l, const config_binding *x,
                                  const target_input *in, tensor_layout order,
                                  uint32_t *index)
{
    graph_buffer add = {
        .role = GRAPH_CONST, .port = (uint32_t)x->port, .desc = in->desc};
    const void *plain =
        const_elements(l->b.a, in->blob, tensor_elements(&in->desc));

    add.name = arena_printf(l->b.a, "in%u", add.port);
    add.init = plain;
    if (order != TENSOR_PLAIN) {
        void *moved = arena_push(l->b.a, tensor_bytes(&in->desc), 1, 16);

        tensor_relayout(&in->desc, plain, order, moved);
        add.init = moved;
        add.desc.layout = order;
    }
    return add_buffer(l, add, l->s->layer->path, x->line, index);
}

/* A Data binding. A missing blob is not an error yet: VPU_OK and broken. */
static vpu_status bind_data(layout *l, const config_binding *x, graph_arg *arg)
{
    const target *t = &l->b.t;
    const char *path = l->s->layer->path;
    const config_blob *blob = NULL;
    graph_buffer add = {.role = GRAPH_CONST};
    tensor_dtype stored;
    uint64_t n;

    for (size_t i = 0; i < t->n_blobs; i++)
        if (!strcmp(t->blobs[i].name, x->source.text)) {
            blob = &t->blobs[i];
            add.port = (uint32_t)i;
        }
    if (!blob)
        return graph_fail(&l->b, path, x->source.line,
                          "argument %s: layer %s has no blob '%s'", x->arg,
                          t->name, x->source.text);
    if (!tensor_dtype_parse(blob->precision, &stored) ||
        (stored != TENSOR_F16 && stored != TENSOR_F32))
        return graph_fail(&l->b, path, x->source.line,
                          "argument %s: unsupported precision '%s' of blob "
                          "'%s'; supported are FP16 and FP32",
                          x->arg, blob->precision, blob->name);
    n = blob->bytes / tensor_dtype_bytes(stored);
    if (!n || n > UINT32_MAX)
        return graph_fail(&l->b, path, x->source.line,
                          "argument %s: blob '%s' has %llu elements", x->arg,
                          blob->name, (unsigned long long)n);
    arg->kind = GRAPH_ARG_BUFFER;
    for (uint32_t i = 0; i < l->g->n_buffers; i++)
        if (l->g->buffers[i].role == GRAPH_CONST &&
            l->g->buffers[i].name == blob->name) {
            arg->buffer = i;
            return VPU_OK;
        }
    add.name = blob->name;
    add.desc =
        (tensor_desc){.dtype = TENSOR_F16, .rank = 1, .dims = {(uint32_t)n}};
    add.init = const_elements(l->b.a, blob, n);
    return add_buffer(l, add, path, x->line, &arg->buffer);
}

/* --- tensors and scratch ---------------------------------------------- */

static vpu_status bind_input(layout *l, const config_binding *x, graph_arg *arg)
{
    const target_input *in;
    graph_buffer add = {.role = GRAPH_INPUT, .port = (uint32_t)x->port};
    tensor_layout order;
    vpu_status st;

    if ((size_t)x->port >= l->b.t.n_inputs)
        return graph_fail(&l->b, l->s->layer->path, x->line,
                          "argument %s is bound to input port %d, but layer %s "
                          "has %zu",
                          x->arg, (int)x->port, l->b.t.name, l->b.t.n_inputs);
    in = &l->b.t.inputs[x->port];
    st = format_order(l, x, &in->desc, &order);
    if (st)
        return st;
    arg->kind = GRAPH_ARG_BUFFER;
    if (in->blob)
        add.role = GRAPH_CONST;
    add.name = arena_printf(l->b.a, "in%u", add.port);
    for (uint32_t i = 0; i < l->g->n_buffers; i++) {
        const graph_buffer *old = &l->g->buffers[i];

        if (old->role == add.role && old->port == add.port &&
            old->desc.layout == order && old->desc.rank == in->desc.rank) {
            arg->buffer = i;
            return VPU_OK;
        }
    }
    if (in->blob)
        return add_const_input(l, x, in, order, &arg->buffer);
    add.desc = in->desc;
    add.desc.layout = order;
    return add_buffer(l, add, l->s->layer->path, x->line, &arg->buffer);
}

static vpu_status bind_output(layout *l, const config_binding *x,
                              graph_arg *arg)
{
    graph_buffer add = {
        .name = "out0", .role = GRAPH_OUTPUT, .desc = l->b.t.output};
    tensor_layout other;
    vpu_status st = format_order(l, x, &add.desc, &add.desc.layout);

    if (st)
        return st;
    arg->kind = GRAPH_ARG_BUFFER;
    arg->written = true;
    if (find_buffer(l, GRAPH_OUTPUT, 0, add.desc.layout, &arg->buffer))
        return VPU_OK;
    other =
        add.desc.layout == TENSOR_PLAIN ? TENSOR_CHANNEL_MINOR : TENSOR_PLAIN;
    if (find_buffer(l, GRAPH_OUTPUT, 0, other, &arg->buffer))
        return graph_fail(&l->b, l->s->layer->path, x->line,
                          "argument %s writes output 0 as %s, another kernel "
                          "or argument in a different order; expected one "
                          "format",
                          x->arg, config_format_name(x->format));
    return add_buffer(l, add, l->s->layer->path, x->line, &arg->buffer);
}

/* Scratch is keyed by port-index and shared by the stages; the first definition
 * fixes its size. */
static vpu_status bind_scratch(layout *l, const config_binding *x,
                               graph_arg *arg)
{
    graph_buffer add = {.role = GRAPH_SCRATCH, .port = (uint32_t)x->port};
    const char *path = l->s->layer->path;
    bool writes = x->kind == CONFIG_OUTPUT_BUFFER;
    graph_buffer *old;
    uint32_t size;
    vpu_status st = graph_binding_size(&l->b, l->s, x, &size);

    if (st)
        return st;
    arg->kind = GRAPH_ARG_BUFFER;
    arg->written = writes;
    old = find_buffer(l, GRAPH_SCRATCH, add.port, TENSOR_PLAIN, &arg->buffer);
    if (old && old->desc.dims[3] != size)
        log_warn(l->b.log,
                 "%s:%u: buffer %u is %u here and %u where it is first "
                 "defined; the first counts",
                 path, x->line, add.port, size, old->desc.dims[3]);
    if (!old) {
        add.name = arena_printf(l->b.a, "buffer%u", add.port);
        add.desc = (tensor_desc){
            .dtype = TENSOR_F16, .rank = 4, .dims = {1, 1, 1, size}};
        st = add_buffer(l, add, path, x->line, &arg->buffer);
        if (st)
            return st;
        l->producers[arg->buffer] = -1;
    }
    if (writes && l->producers[arg->buffer] >= 0)
        return graph_fail(&l->b, path, x->line,
                          "buffer %u has two output_buffer bindings; exactly "
                          "one may write it",
                          add.port);
    if (writes)
        l->producers[arg->buffer] = (int64_t)l->s_index;
    else if (l->producers[arg->buffer] < 0 ||
             l->producers[arg->buffer] == (int64_t)l->s_index)
        return graph_fail(&l->b, path, x->line,
                          "argument %s reads buffer %u, which no earlier stage "
                          "writes (an output_buffer with port-index=\"%u\")",
                          x->arg, add.port, add.port);
    return VPU_OK;
}

/* --- launches --------------------------------------------------------- */

/* Keep the message of a failure for whoever needs the argument. */
static void make_broken(layout *l, const vpu_error *why, graph_arg *arg)
{
    arg->kind = GRAPH_ARG_BROKEN;
    arg->why = arena_strdup(l->b.a, why->msg);
}

static vpu_status bind_arg(layout *l, const config_binding *x, graph_arg *arg)
{
    vpu_error *saved = l->b.err, why = {0};
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
    l->b.err = &why;
    if (x->kind == CONFIG_DATA) {
        st = bind_data(l, x, arg);
    } else if (x->kind == CONFIG_LOCAL_DATA) {
        arg->kind = GRAPH_ARG_LOCAL;
        st = graph_binding_size(&l->b, l->s, x, &arg->bytes);
    } else {
        st = graph_scalar(&l->b, l->s, x, arg);
    }
    l->b.err = saved;
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
            return graph_fail(&l->b, path, k->global.line,
                              "dimension %d: global size %u is below the local "
                              "size %u, so there is no work-group "
                              "(global=\"%s\" local=\"%s\")",
                              i, x->global[i], x->local[i], k->global.text,
                              k->local.text);
        if (x->global[i] % x->local[i])
            log_warn(l->b.log,
                     "%s:%u: dimension %d: global size %u is not a multiple of "
                     "the local size %u; %u groups run and the last %u "
                     "work-items do not, as on the device",
                     path, k->global.line, i, x->global[i], x->local[i],
                     x->global[i] / x->local[i], x->global[i] % x->local[i]);
    }
    return VPU_OK;
}

static vpu_status lay_out_stage(layout *l, graph_launch *out)
{
    const config_kernel *k = l->s->kernel;
    graph_arg *args = arena_array(l->b.a, graph_arg, k->n_bindings);
    vpu_status st = VPU_OK;

    *out = (graph_launch){.name = l->b.t.name,
                          .entry = k->entry,
                          .sources = k->sources,
                          .n_sources = (uint32_t)k->n_sources,
                          .args = args,
                          .n_args = (uint32_t)k->n_bindings,
                          .max_shaves = k->max_shaves,
                          .file = l->s->layer->path,
                          .line = k->line};
    if (l->b.n_stages > 1)
        out->name =
            arena_printf(l->b.a, "%s@stage_%zu", l->b.t.name, l->s_index);
    for (size_t i = 0; i < k->n_bindings && !st; i++)
        st = bind_arg(l, &k->bindings[i], &args[i]);
    if (!st)
        st = graph_work_size(&l->b, l->s, "global", k->global, out->global);
    if (!st)
        st = graph_work_size(&l->b, l->s, "local", k->local, out->local);
    return st ? st : check_sizes(l, out);
}

static vpu_status check_output(const layout *l)
{
    const stage *s = &l->b.stages[0];

    for (uint32_t i = 0; i < l->g->n_buffers; i++)
        if (l->g->buffers[i].role == GRAPH_OUTPUT)
            return VPU_OK;
    return graph_fail(&l->b, s->layer->path, s->layer->line,
                      "no kernel of CustomLayer %s has a Tensor of type "
                      "output",
                      s->layer->type);
}

/* Data blobs are constants of rank 1; layer inputs never are. */
static bool is_input(const graph_buffer *x)
{
    return x->role == GRAPH_INPUT ||
           (x->role == GRAPH_CONST && x->desc.rank != 1);
}

static void warn_unbound(const layout *l)
{
    for (size_t p = 0; p < l->b.t.n_inputs; p++) {
        bool bound = false;

        for (uint32_t i = 0; i < l->g->n_buffers && !bound; i++)
            bound = is_input(&l->g->buffers[i]) && l->g->buffers[i].port == p;
        if (!bound)
            log_warn(l->b.log, "%s:%u: no kernel reads input %zu of layer %s",
                     l->b.stages[0].layer->path, l->b.stages[0].layer->line, p,
                     l->b.t.name);
    }
}

static vpu_status lay_out(layout *l)
{
    graph *g = l->g;
    size_t total = 1;
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < l->b.n_stages; i++)
        total += l->b.stages[i].kernel->n_bindings;
    l->producers = arena_array(l->b.a, int64_t, total);
    g->layer = l->b.t.name;
    g->type = l->b.t.type;
    g->form = config_form_name(l->b.stages[0].layer->form);
    g->n_launches = (uint32_t)l->b.n_stages;
    g->launches = arena_array(l->b.a, graph_launch, l->b.n_stages);
    for (size_t i = 0; i < l->b.n_stages && !st; i++) {
        l->s = &l->b.stages[i];
        l->s_index = i;
        st = lay_out_stage(l, &g->launches[i]);
    }
    if (!st)
        st = check_output(l);
    if (!st)
        warn_unbound(l);
    return st;
}

/* The compilers know 2-D to 4-D tensors; ours runs what a kernel can. */
static vpu_status check_ranks(binder *b)
{
    const config_layer *l = b->stages[0].layer;
    config_context c = graph_context(b, l);
    vpu_status st = VPU_OK;

    for (size_t i = 0; i <= b->t.n_inputs && !st; i++) {
        bool is_output = i == b->t.n_inputs;
        const tensor_desc *d = is_output ? &b->t.output : &b->t.inputs[i].desc;

        if (d->rank < 2 || d->rank > 4)
            st = config_refused_by(
                &c, CONFIG_RELEASES, l->line, 0, "refuse it",
                "%s%zu of layer %s is %s, a tensor of rank %u",
                is_output ? "out" : "in", is_output ? 0 : i, b->t.name,
                tensor_desc_text(b->a, d), d->rank);
    }
    return st;
}

vpu_status graph_bind(const graph_request *q, arena *a, const log_sink *log,
                      graph **out, vpu_error *err)
{
    layout l = {.b = {.q = q, .a = a, .log = log, .err = err}};
    vpu_status st;

    *out = NULL;
    st = graph_find_target(&l.b);
    if (!st)
        st = graph_select(&l.b);
    if (st)
        return st;
    l.g = arena_new(a, graph);
    st = check_ranks(&l.b);
    if (!st)
        st = lay_out(&l);
    if (!st)
        *out = l.g;
    return st;
}

vpu_status graph_launch_arg(const graph *g, const graph_launch *l,
                            const char *name, const graph_arg **out,
                            vpu_error *err)
{
    *out = NULL;
    for (uint32_t i = l->n_args; i-- && !*out;)
        if (!strcmp(l->args[i].name, name))
            *out = &l->args[i];
    if (!*out)
        return err_at(err, VPU_ERR_INVALID, l->file, l->line, 0,
                      "error: XML specification for %s layer has no definition "
                      "for '%s' parameter of kernel %s (layer %s)",
                      g->type, name, l->entry, g->layer);
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
