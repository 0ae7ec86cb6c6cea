/* The padding of tensors with a border: a launch fills it in front of those
 * that read it, when the tensor was written since. */
#include <string.h>

#include "runtime/api/reach.h"

/* Behind this many dims of padding the rest are one. */
enum { SPLIT = 2 };

__asm__(".section .rodata\n"
        "vpu_border_start:\n"
        ".incbin \"runtime/api/border.cl\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char vpu_border_start[];

static const vpu_kind border_kind = {.struct_size = sizeof border_kind,
                                     .name = "border",
                                     .source = vpu_border_start,
                                     .kernel = "fill_border"};

typedef struct {
    vpu_graph *g;
    graph_launch *launches; /* the new list */
    uint32_t n;
    uint32_t *new_index; /* of old launches; one more than there are */
    bool *is_filled;     /* by buffer: its padding is as its border says */
} inserting;

static bool has_border(const vpu_tensor *t)
{
    return t && t->border > VPU_BORDER_UNDEFINED;
}

/* The kernel for a tensor; the graph keeps its program. */
static vpu_status find_kernel(vpu_graph *g, const vpu_tensor *t,
                              const vpu_kernel **out, vpu_error *err)
{
    const char *option =
        arena_printf(g->arena, "-DELEMENT=%s", api_opencl_type(t->type));
    const vpu_variant v = {"fill_border", &option, 1};

    return api_kind_kernel(g->context, &border_kind, &v, out, err);
}

static graph_arg *number(arena *a, graph_arg *arg, const char *name, uint32_t i,
                         int64_t value)
{
    *arg = (graph_arg){.name = arena_printf(a, "%s%u", name, i),
                       .kind = GRAPH_ARG_INT,
                       .integer = value};
    return arg + 1;
}

/* In the order of the kernel's arguments; as if the tensor had six dims. */
static void set_arguments(graph_launch *l, vpu_graph *g, const vpu_tensor *t)
{
    enum { N_ARGS = 4 + 4 * VPU_MAX_RANK };
    uint32_t element = vpu_type_bytes(t->type), outer = VPU_MAX_RANK - t->rank;
    graph_arg *args = arena_array(g->arena, graph_arg, N_ARGS), *p = args;

    *p++ = (graph_arg){.name = "data",
                       .kind = GRAPH_ARG_BUFFER,
                       .buffer = t->buffer,
                       .written = true};
    *p++ = (graph_arg){.name = "offset",
                       .kind = GRAPH_ARG_INT,
                       .integer = (int64_t)(t->offset / element)};
    *p++ = (graph_arg){.name = "is_constant",
                       .kind = GRAPH_ARG_INT,
                       .integer = t->border == VPU_BORDER_CONSTANT};
    *p++ = (graph_arg){.name = "value",
                       .kind = GRAPH_ARG_FLOAT,
                       .real = (float)t->border_value};
    for (uint32_t i = 0; i < VPU_MAX_RANK; i++) {
        uint32_t k = i - outer;
        bool real = i >= outer;

        p = number(g->arena, p, "size", i, real ? t->dims[k] : 1);
        p = number(g->arena, p, "before", i, real ? t->pad_before[k] : 0);
        p = number(g->arena, p, "all", i,
                   real ? (int64_t)t->pad_before[k] + t->dims[k] +
                              t->pad_after[k]
                        : 1);
        p = number(g->arena, p, "stride", i,
                   real ? (int64_t)(t->strides[k] / element) : 0);
    }
    l->args = args;
    l->n_args = N_ARGS;
}

static void set_sizes(graph_launch *l, const vpu_tensor *t)
{
    for (int d = 0; d < 3; d++)
        l->global[d] = l->local[d] = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        uint32_t d = t->rank - 1 - i;

        l->global[d < SPLIT ? d : SPLIT] *=
            t->pad_before[i] + t->dims[i] + t->pad_after[i];
    }
}

static vpu_status make_fill(inserting *x, const vpu_tensor *t,
                            const char *before, vpu_error *err)
{
    vpu_graph *g = x->g;
    graph_launch *l = &x->launches[x->n++];
    const char **sources = arena_array(g->arena, const char *, 2);
    const vpu_kernel *k = NULL;
    vpu_status st = find_kernel(g, t, &k, err);

    if (st)
        return st;
    sources[0] = k->program->path;
    *l = (graph_launch){
        .name = arena_printf(g->arena, "%s@border=%s", before, t->name),
        .type = "border",
        .entry = "fill_border",
        .given = k->program->source,
        .sources = sources,
        .n_sources = 1,
        .options = k->program->options,
        .n_options = k->program->n_options};
    l->layer = l->file = l->name;
    set_sizes(l, t);
    set_arguments(l, g, t);
    return VPU_OK;
}

static vpu_status fill_before(inserting *x, const graph_launch *l,
                              vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t k = 0; k < l->n_args && !st; k++) {
        const graph_arg *a = &l->args[k];
        const vpu_tensor *t;

        if (a->kind != GRAPH_ARG_BUFFER || a->written)
            continue;
        t = x->g->tensors[a->buffer];
        if (!has_border(t) || x->is_filled[a->buffer])
            continue;
        st = make_fill(x, t, l->name, err);
        x->is_filled[a->buffer] = true;
    }
    return st;
}

static void note_written(const inserting *x, const graph_launch *l)
{
    for (uint32_t k = 0; k < l->n_args; k++)
        if (l->args[k].kind == GRAPH_ARG_BUFFER && l->args[k].written)
            x->is_filled[l->args[k].buffer] = false;
}

static uint32_t count_borders(const vpu_graph *g)
{
    uint32_t n = 0;

    for (size_t i = 0; i < g->n_tensors; i++)
        n += has_border(g->tensors[i]);
    return n;
}

/* Launches in front of an operation's own are its own, too. */
static void renumber(const inserting *x)
{
    for (vpu_operation *op = x->g->operations; op; op = op->next) {
        uint32_t end = op->launch + op->n_launches;
        uint32_t first = op->launch ? x->new_index[op->launch - 1] + 1 : 0;

        op->launch = op->n_launches ? first : x->new_index[op->launch];
        op->n_launches = op->n_launches ? x->new_index[end - 1] + 1 - first : 0;
    }
}

vpu_status api_border_insert(vpu_graph *g, vpu_error *err)
{
    uint32_t n = g->g.n_launches, borders = count_borders(g);
    inserting x = {.g = g};
    vpu_status st = VPU_OK;

    if (!borders)
        return VPU_OK;
    x.launches =
        arena_array(g->arena, graph_launch, n + (size_t)n * borders + 1);
    x.is_filled = arena_array(g->arena, bool, g->g.n_buffers + 1);
    x.new_index = arena_array(g->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < n && !st; i++) {
        st = fill_before(&x, &g->g.launches[i], err);
        x.new_index[i] = x.n;
        x.launches[x.n++] = g->g.launches[i];
        note_written(&x, &g->g.launches[i]);
    }
    x.new_index[n] = x.n;
    if (st)
        return st;
    renumber(&x);
    for (uint32_t h = 0; h < g->g.n_hosts; h++)
        g->g.hosts[h].before = x.new_index[g->g.hosts[h].before];
    g->g.launches = x.launches;
    g->g.n_launches = x.n;
    return VPU_OK;
}
