/* The one stage of a SimpleGPU layer: its tensors in the orders and paddings
 * that it is to see, its macros, arguments and sizes. */
#include <string.h>

#include "base/str.h"
#include "runtime/config/gpu.h"
#include "runtime/graph/bind_priv.h"
#include "runtime/graph/convert.h"
#include "runtime/graph/gpu_defines.h"

/* The vectorizer takes so many work-items together. */
enum { VECTOR = 8 };

typedef struct {
    graph_binder *b;
    const config_layer *layer;
    const config_kernel *kernel;
    graph_gpu_tensor *inputs;
    graph_gpu_tensor output;
    bool *bound; /* by input port */
} gpu_layout;

static vpu_status fail_in(const gpu_layout *l, uint32_t line, const char *fmt,
                          ...) VPU_PRINTF(3, 4);

static vpu_status fail_in(const gpu_layout *l, uint32_t line, const char *fmt,
                          ...)
{
    vpu_error why;
    va_list ap;

    va_start(ap, fmt);
    err_vset(&why, VPU_ERR_INVALID, fmt, ap);
    va_end(ap);
    return graph_fail(l->b, l->layer->path, line, "%s", why.msg);
}

/* --- tensors ------------------------------------------------------------- */

static const graph_padding *padding_of(const gpu_layout *l, bool output,
                                       uint32_t port)
{
    const graph_request *q = l->b->request;

    for (size_t i = q->n_paddings; i--;)
        if (q->paddings[i].output == output && q->paddings[i].port == port)
            return &q->paddings[i];
    return NULL;
}

/* The tensor in an order, padded. */
static vpu_status describe(const gpu_layout *l, const tensor_desc *d,
                           config_format format, const graph_padding *pad,
                           graph_gpu_tensor *t)
{
    vpu_error why = {0};

    *t = (graph_gpu_tensor){
        .dims = {1, 1, 1, 1}, .format = format, .dtype = d->dtype};
    if (d->rank > 4)
        return fail_in(l, l->layer->line,
                       "the tensor %s has five dims; the GPU plug-in knows no "
                       "pitches for them",
                       tensor_desc_text(l->b->arena, d));
    if (!graph_gpu_type(d->dtype))
        return fail_in(l, l->layer->line,
                       "the tensor %s: the GPU plug-in has no type for such "
                       "elements; it knows f16 f32 i32 i64 i8 u8",
                       tensor_desc_text(l->b->arena, d));
    memcpy(t->dims, d->dims, d->rank * sizeof *d->dims);
    if (pad) {
        t->lower[3] = pad->left;
        t->upper[3] = pad->right;
        t->lower[2] = pad->top;
        t->upper[2] = pad->bottom;
    }
    if (graph_gpu_place(t, &why))
        return fail_in(l, l->layer->line, "%s%s",
                       tensor_desc_text(l->b->arena, d),
                       why.msg + strlen("the tensor"));
    return VPU_OK;
}

static vpu_status check_paddings(const gpu_layout *l)
{
    const graph_request *q = l->b->request;

    for (size_t i = 0; i < q->n_paddings; i++) {
        const graph_padding *p = &q->paddings[i];

        if (p->port >= (p->output ? 1 : l->b->target.n_inputs))
            return fail_in(l, l->layer->line,
                           "a padding of %s%u is given, but layer %s has no "
                           "such %s",
                           p->output ? "out" : "in", p->port, l->b->target.name,
                           p->output ? "output" : "input");
    }
    return VPU_OK;
}

static vpu_status describe_all(gpu_layout *l)
{
    graph_binder *b = l->b;
    size_t n = b->target.n_inputs;
    vpu_status st = check_paddings(l);

    l->inputs = arena_array(b->arena, graph_gpu_tensor, n + 1);
    l->bound = arena_array(b->arena, bool, n + 1);
    for (size_t i = 0; i < n && !st; i++)
        st = describe(l, &b->target.inputs[i]->desc,
                      config_gpu_format(l->kernel, CONFIG_INPUT, (uint32_t)i),
                      padding_of(l, false, (uint32_t)i), &l->inputs[i]);
    return st ? st
              : describe(l, &b->target.output->desc,
                         config_gpu_format(l->kernel, CONFIG_OUTPUT, 0),
                         padding_of(l, true, 0), &l->output);
}

/* Whether the tensor stands as the host has it. */
static bool is_plain(const graph_gpu_tensor *t)
{
    graph_gpu_tensor plain = *t;

    plain.format = CONFIG_BFYX;
    memset(plain.lower, 0, sizeof plain.lower);
    memset(plain.upper, 0, sizeof plain.upper);
    return !graph_gpu_place(&plain, NULL) &&
           !memcmp(&plain.at, &t->at, sizeof t->at) &&
           plain.elements == t->elements;
}

static const char *place_name(const gpu_layout *l, const char *name,
                              const graph_gpu_tensor *t)
{
    bool padded = false;

    for (int i = 0; i < 4; i++)
        padded |= t->lower[i] || t->upper[i];
    return arena_printf(l->b->arena, "%s@%s%s", name,
                        config_format_name(t->format), padded ? " padded" : "");
}

/* A buffer with t as the kernel sees it. */
static vpu_status add_placed(gpu_layout *l, const graph_data *d,
                             const graph_gpu_tensor *t, const graph_place *at,
                             uint32_t *index)
{
    graph_buffer add = {.name = place_name(l, d->name, t),
                        .role = GRAPH_SCRATCH,
                        .port = d->port,
                        .desc = {.dtype = t->dtype,
                                 .rank = 1,
                                 .dims = {(uint32_t)t->elements}}};

    return graph_add_buffer(l->b, add, at, index);
}

/* Between buffers `plain` and `placed`, which has t. */
static void add_reorder(gpu_layout *l, const graph_gpu_tensor *t, bool input,
                        uint32_t plain, uint32_t placed, const graph_place *at)
{
    graph_gpu_tensor host = {.format = CONFIG_BFYX, .dtype = t->dtype};
    graph_reordering r = {.dtype = t->dtype};
    graph_binder *b = l->b;
    graph_launch x;

    memcpy(host.dims, t->dims, sizeof host.dims);
    graph_gpu_place(&host, NULL);
    memcpy(r.dims, t->dims, sizeof r.dims);
    r.from = input ? host.at : t->at;
    r.to = input ? t->at : host.at;
    graph_reorder(b->arena, &r, input ? plain : placed, input ? placed : plain,
                  &x);
    x.name = arena_printf(b->arena, "%s@reorder-%s-data=%u", at->stage,
                          input ? "input" : "output", at->edge);
    x.layer = b->target.name;
    x.type = b->target.type;
    x.file = at->path;
    x.line = at->line;
    graph_add_launch(b, &x);
}

/* --- arguments ----------------------------------------------------------- */

typedef struct {
    bool done;
    uint32_t buffer;
} placed;

typedef struct {
    placed *inputs; /* by port */
    placed output;
    uint32_t plain; /* of the output, where it is placed otherwise */
    graph_place written;
} placement;

static vpu_status bind_input(gpu_layout *l, const config_binding *x,
                             placement *p, graph_arg *arg)
{
    graph_binder *b = l->b;
    graph_place at = {b->target.name, (uint32_t)x->port, l->layer->path,
                      x->line};
    const graph_gpu_tensor *t = &l->inputs[x->port];
    placed *in = &p->inputs[x->port];
    graph_data *d = b->target.inputs[x->port];
    uint32_t plain = 0;
    vpu_status st = VPU_OK;

    l->bound[x->port] = true;
    if (!in->done) {
        st = graph_read_data(b, d, TENSOR_PLAIN, &at, &plain);
        in->buffer = plain;
        if (!st && !is_plain(t)) {
            st = add_placed(l, d, t, &at, &in->buffer);
            if (!st)
                add_reorder(l, t, true, plain, in->buffer, &at);
        }
    }
    in->done = !st;
    arg->buffer = in->buffer;
    return st;
}

static vpu_status bind_output(gpu_layout *l, const config_binding *x,
                              placement *p, graph_arg *arg)
{
    graph_binder *b = l->b;
    bool agrees;
    vpu_status st = VPU_OK;

    p->written = (graph_place){b->target.name, 0, l->layer->path, x->line};
    arg->written = true;
    if (!p->output.done) {
        st = graph_write_data(b, b->target.output, TENSOR_PLAIN, &p->written,
                              &p->plain, &agrees);
        p->output.buffer = p->plain;
        if (!st && !is_plain(&l->output))
            st = add_placed(l, b->target.output, &l->output, &p->written,
                            &p->output.buffer);
    }
    p->output.done = !st;
    arg->buffer = p->output.buffer;
    return st;
}

static vpu_status bind_args(gpu_layout *l, placement *p, graph_arg *args)
{
    const config_kernel *k = l->kernel;
    size_t n_inputs = l->b->target.n_inputs;
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < k->n_bindings && !st; i++) {
        const config_binding *x = &k->bindings[i];

        args[i] = (graph_arg){
            .name = x->arg, .kind = GRAPH_ARG_BUFFER, .line = x->line};
        if (x->kind == CONFIG_INPUT && (size_t)x->port >= n_inputs)
            return fail_in(l, x->line,
                           "argument %s is bound to input port %d, but layer "
                           "%s has %zu input%s",
                           x->arg, (int)x->port, l->b->target.name, n_inputs,
                           n_inputs == 1 ? "" : "s");
        st = x->kind == CONFIG_INPUT ? bind_input(l, x, p, &args[i])
                                     : bind_output(l, x, p, &args[i]);
    }
    return st;
}

/* --- work sizes ---------------------------------------------------------- */

/* B, F, Y, X as the plug-in counts them; see gpu.h. */
static vpu_status find_vars(const gpu_layout *l, config_gpu_vars *out)
{
    const graph_target *t = &l->b->target;
    const config_dim *dim = &l->kernel->dim;
    const tensor_desc *o = &t->output->desc, *d;

    for (uint32_t i = 0; i < 4; i++)
        out->dims[i] = dim->output && i >= o->rank ? 1 : 0;
    if (dim->output) {
        for (uint32_t i = 0; i < 4 && i < o->rank; i++)
            out->dims[i] = (int32_t)o->dims[i];
        return VPU_OK;
    }
    if (dim->index >= t->n_inputs)
        return fail_in(l, dim->line,
                       "dim=\"input,%u\": layer %s has %zu input%s", dim->index,
                       t->name, t->n_inputs, t->n_inputs == 1 ? "" : "s");
    d = &t->inputs[dim->index]->desc;
    for (uint32_t i = 0; i < 4 && i < o->rank; i++) {
        if (i >= d->rank)
            return fail_in(l, dim->line,
                           "dim=\"input,%u\": the input is %s, the output %s; "
                           "the plug-in counts as many dims of the input as "
                           "the output has",
                           dim->index, tensor_desc_text(l->b->arena, d),
                           tensor_desc_text(l->b->arena, o));
        out->dims[3 - i] = (int32_t)d->dims[d->rank - 1 - i];
    }
    return VPU_OK;
}

static vpu_status default_global(const gpu_layout *l, graph_gpu_layer *g)
{
    const tensor_desc *o = &l->b->target.output->desc;
    uint64_t n = 1;

    for (uint32_t i = 0; i < 4 && i < o->rank; i++)
        n *= o->dims[i];
    if (n > INT32_MAX)
        return fail_in(l, l->kernel->line,
                       "without a global size there is a work-item for each "
                       "element of the output, %llu of them; at most 2^31 - 1 "
                       "are possible",
                       (unsigned long long)n);
    g->global[0] = (uint32_t)n;
    g->n_global = 1;
    return VPU_OK;
}

static vpu_status check_local(const gpu_layout *l, const graph_gpu_layer *g)
{
    const config_kernel *k = l->kernel;

    if (g->n_local > g->n_global)
        return fail_in(l, k->local.line,
                       "local=\"%s\" has more sizes than the global one, which "
                       "has %zu",
                       k->local.text, g->n_global);
    for (size_t i = 0; i < g->n_local; i++)
        if (g->global[i] % g->local[i])
            return fail_in(l, k->local.line,
                           "dimension %zu: global size %u is not a multiple of "
                           "the local size %u, which an OpenCL device refuses "
                           "(local=\"%s\")",
                           i, g->global[i], g->local[i], k->local.text);
    return VPU_OK;
}

static vpu_status find_sizes(const gpu_layout *l, graph_gpu_layer *g)
{
    const config_kernel *k = l->kernel;
    config_gpu_vars vars;
    vpu_status st = find_vars(l, &vars);

    if (!st && k->global.text)
        st = config_gpu_sizes(l->layer, "global", k->global, &vars, g->global,
                              &g->n_global, l->b->err);
    else if (!st)
        st = default_global(l, g);
    if (!st)
        st = config_gpu_sizes(l->layer, "local", k->local, &vars, g->local,
                              &g->n_local, l->b->err);
    return st ? st : check_local(l, g);
}

/* What the launch has; the macros say what the file gives. */
static void launch_sizes(const gpu_layout *l, const graph_gpu_layer *g,
                         graph_launch *x)
{
    for (size_t i = 0; i < 3; i++) {
        x->global[i] = i < g->n_global ? g->global[i] : 1;
        x->local[i] = i < g->n_local ? g->local[i] : 1;
    }
    if (g->n_local)
        return;
    x->local[0] = graph_local_size(x->global[0], VECTOR);
    log_note(l->b->log,
             "%s:%u: no local size is given: work-groups have %ux1x1 "
             "work-items%s",
             l->layer->path, l->kernel->line, x->local[0],
             x->local[0] % VECTOR ? ", no multiple of the 8 that are taken "
                                    "together: its first global size has none"
                                  : "");
}

/* --- the launch ---------------------------------------------------------- */

/* Words of the options; what may stand behind -D, -U and -I as a word of its
 * own is one with it. */
static void take_options(const gpu_layout *l, graph_launch *x)
{
    static const char blanks[] = " \t\r\n";
    const char **list = NULL;
    size_t n = 0, cap = 0;
    bool joins = false;

    for (const char *p = l->kernel->options.text; p && *p;) {
        size_t length;

        p += strspn(p, blanks);
        length = strcspn(p, blanks);
        if (length && joins)
            list[n - 1] = arena_printf(l->b->arena, "%s%.*s", list[n - 1],
                                       (int)length, p);
        else if (length)
            *arena_append(l->b->arena, list, n, cap) =
                arena_strndup(l->b->arena, p, length);
        joins = !joins && length == 2 && *p == '-' && strchr("DUI", p[1]);
        p += length;
    }
    x->options = list;
    x->n_options = (uint32_t)n;
}

static vpu_status take_macros(const gpu_layout *l, const graph_gpu_layer *g,
                              graph_launch *x)
{
    str texts[2] = {{0}, {0}};
    vpu_status st = VPU_OK;

    for (int i = 0; i < 2 && !st; i++)
        st = graph_gpu_defines(g, i == 1, &texts[i], l->b->err);
    x->macros = arena_strdup(l->b->arena, str_text(&texts[0]));
    x->private_macros = arena_strdup(l->b->arena, str_text(&texts[1]));
    for (int i = 0; i < 2; i++)
        str_free(&texts[i]);
    return st;
}

static void warn_unbound(const gpu_layout *l)
{
    for (size_t i = 0; i < l->b->target.n_inputs; i++)
        if (!l->bound[i])
            log_warn(
                l->b->log,
                "%s:%u: no Tensor binds input %zu of layer %s: the plug-in "
                "refuses such a layer",
                l->layer->path, l->layer->line, i, l->b->target.name);
}

static vpu_status add_stage(gpu_layout *l, const graph_gpu_layer *g)
{
    graph_binder *b = l->b;
    const config_kernel *k = l->kernel;
    graph_arg *args = arena_array(b->arena, graph_arg, k->n_bindings);
    placement p = {.inputs =
                       arena_array(b->arena, placed, b->target.n_inputs + 1)};
    graph_launch x = {.name = b->target.name,
                      .layer = b->target.name,
                      .type = b->target.type,
                      .entry = k->entry,
                      .sources = k->sources,
                      .n_sources = (uint32_t)k->n_sources,
                      .args = args,
                      .n_args = (uint32_t)k->n_bindings,
                      .by_index = true,
                      .file = l->layer->path,
                      .line = k->line};
    vpu_status st = bind_args(l, &p, args);

    if (!st && !p.output.done)
        st = fail_in(l, l->layer->line,
                     "no Tensor of CustomLayer %s has type=\"output\"",
                     l->layer->type);
    if (!st)
        st = take_macros(l, g, &x);
    if (st)
        return st;
    take_options(l, &x);
    launch_sizes(l, g, &x);
    warn_unbound(l);
    graph_add_launch(b, &x);
    if (p.output.buffer != p.plain)
        add_reorder(l, &l->output, false, p.plain, p.output.buffer, &p.written);
    return graph_finish_data(b, b->target.output, &p.written);
}

vpu_status graph_lay_out_gpu(graph_binder *b)
{
    gpu_layout l = {
        .b = b, .layer = b->stages[0].layer, .kernel = b->stages[0].kernel};
    graph_gpu_layer g = {.layer = l.layer,
                         .params = b->target.params,
                         .n_params = b->target.n_params,
                         .n_inputs = b->target.n_inputs};
    vpu_status st = describe_all(&l);

    g.inputs = l.inputs;
    g.output = l.output;
    if (!st)
        st = find_sizes(&l, &g);
    return st ? st : add_stage(&l, &g);
}
