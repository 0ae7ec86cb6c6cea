/* Finds conversions that repeat or undo one another. */
#include "runtime/graph/conversions.h"

#include <string.h>

#include "runtime/graph/convert.h"

typedef struct {
    graph *g;
    arena *a;
    graph_conversion *of; /* by launch; entry NULL: it is none */
    bool *gone;
    uint32_t *writer; /* by buffer: the only launch that writes it, or NONE */
} finder;

enum { NONE = UINT32_MAX };

/* Buffers that several launches write stand for more than one value. */
static void find_writers(finder *f)
{
    const graph *g = f->g;

    for (uint32_t b = 0; b < g->n_buffers; b++)
        f->writer[b] = NONE;
    for (uint32_t i = 0, writes; i < g->n_launches; i++)
        for (uint32_t k = 0; k < g->launches[i].n_args; k++) {
            const graph_arg *x = &g->launches[i].args[k];

            writes = x->kind == GRAPH_ARG_BUFFER && x->written && !f->gone[i];
            if (writes)
                f->writer[x->buffer] =
                    f->writer[x->buffer] == NONE ? i : g->n_launches;
        }
    for (uint32_t i = 0; i < g->n_hosts; i++)
        for (uint32_t k = 0; k < g->hosts[i].n_args; k++)
            if (g->hosts[i].args[k].written)
                f->writer[g->hosts[i].args[k].buffer] = g->n_launches;
}

/* Written once, before launch i, or never; so that it holds one value for all
 * its readers. */
static bool is_settled(const finder *f, uint32_t buffer, uint32_t i)
{
    uint32_t w = f->writer[buffer];

    return w == NONE ? f->g->buffers[buffer].role != GRAPH_SCRATCH
                     : w < f->g->n_launches && w < i;
}

/* Between tensors as a whole, into a buffer that nobody else writes. */
static bool is_plain(const finder *f, uint32_t i)
{
    const graph_conversion *c = &f->of[i];

    return c->entry && !f->gone[i] && f->writer[c->dst] == i &&
           is_settled(f, c->src, i);
}

/* The arguments with another buffer to be read in place of one. */
static const graph_arg *redirected(const finder *f, const graph_arg *list,
                                   uint32_t n, uint32_t from, uint32_t to)
{
    for (uint32_t k = 0; k < n; k++)
        if (list[k].kind == GRAPH_ARG_BUFFER && !list[k].written &&
            list[k].buffer == from) {
            graph_arg *args = arena_memdup(f->a, list, n * sizeof *args);

            args[k].buffer = to;
            list = args;
        }
    return list;
}

/* Every reader of one buffer reads another one. */
static void redirect(const finder *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < f->g->n_hosts; i++) {
        graph_host *h = &f->g->hosts[i];

        h->args = redirected(f, h->args, h->n_args, from, to);
    }
    for (uint32_t i = 0; i < f->g->n_launches; i++) {
        graph_launch *l = &f->g->launches[i];

        l->args = redirected(f, l->args, l->n_args, from, to);
        if (f->of[i].entry && f->of[i].src == from)
            f->of[i].src = to;
    }
}

static bool is_read(const finder *f, uint32_t buffer)
{
    for (uint32_t i = 0; i < f->g->n_hosts; i++)
        for (uint32_t k = 0; k < f->g->hosts[i].n_args; k++)
            if (!f->g->hosts[i].args[k].written &&
                f->g->hosts[i].args[k].buffer == buffer)
                return true;
    for (uint32_t i = 0; i < f->g->n_launches; i++)
        for (uint32_t k = 0; k < f->g->launches[i].n_args && !f->gone[i]; k++) {
            const graph_arg *x = &f->g->launches[i].args[k];

            if (x->kind == GRAPH_ARG_BUFFER && !x->written &&
                x->buffer == buffer)
                return true;
        }
    return false;
}

/* Launch i is not needed: its readers take another buffer. Its own result may
 * be an output, which then stays. */
static bool replace(finder *f, uint32_t i, uint32_t by)
{
    uint32_t dst = f->of[i].dst;
    bool changes = is_read(f, dst);

    if (by == dst)
        return false;
    redirect(f, dst, by);
    return changes;
}

/* An earlier launch that does the same, or the one that launch i undoes. */
static bool find_better(finder *f, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        if (!is_plain(f, k))
            continue;
        if (f->of[k].src == f->of[i].src &&
            graph_same_conversion(&f->of[k], &f->of[i]))
            return replace(f, i, f->of[k].dst);
        if (f->of[k].dst == f->of[i].src &&
            graph_undoes_conversion(&f->of[k], &f->of[i]))
            return replace(f, i, f->of[k].src);
    }
    return false;
}

static bool drop_unused(finder *f, uint32_t i)
{
    uint32_t dst = f->of[i].dst;

    if (f->g->buffers[dst].role != GRAPH_SCRATCH || is_read(f, dst))
        return false;
    return f->gone[i] = true;
}

/* --- constants ------------------------------------------------------------ */

static bool same_dims(const tensor_desc *p, const tensor_desc *q)
{
    return p->rank == q->rank &&
           !memcmp(p->dims, q->dims, p->rank * sizeof *p->dims);
}

/* What launch i makes of a constant, made here: another memory order. Other
 * conversions are of what layers of a model pass on, never of constants. */
static void make_constant(finder *f, uint32_t i)
{
    const graph_buffer *from = &f->g->buffers[f->of[i].src];
    graph_buffer *to = &f->g->buffers[f->of[i].dst];
    const tensor_desc *p = &from->desc, *q = &to->desc;
    void *made;

    if (from->role != GRAPH_CONST || to->role != GRAPH_SCRATCH ||
        strncmp(f->of[i].entry, "permute_", 8) || p->layout == q->layout ||
        p->dtype != q->dtype || !same_dims(p, q) ||
        tensor_bytes(p) != from->bytes || tensor_bytes(q) != to->bytes)
        return;
    made = arena_push(f->a, to->bytes, 1, 64);
    tensor_relayout(p, from->init, q->layout, made);
    to->role = GRAPH_CONST;
    to->init = made;
    f->gone[i] = true;
}

static uint32_t take_out(const finder *f, uint32_t *new_index)
{
    graph *g = f->g;
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_launches; i++) {
        new_index[i] = n;
        if (!f->gone[i])
            g->launches[n++] = g->launches[i];
    }
    new_index[g->n_launches] = n;
    for (uint32_t i = 0; i < g->n_hosts; i++)
        g->hosts[i].before = new_index[g->hosts[i].before];
    return n;
}

uint32_t graph_cancel_conversions(graph *g, arena *a, uint32_t **new_index)
{
    finder f = {.g = g,
                .a = a,
                .of = arena_array(a, graph_conversion, g->n_launches + 1),
                .gone = arena_array(a, bool, g->n_launches + 1),
                .writer = arena_array(a, uint32_t, g->n_buffers + 1)};
    uint32_t left, n = g->n_launches;
    bool changed = true;

    for (uint32_t i = 0; i < n; i++)
        graph_conversion_of(&g->launches[i], &f.of[i]);
    while (changed) {
        changed = false;
        find_writers(&f);
        for (uint32_t i = 0; i < n; i++)
            changed |= is_plain(&f, i) && find_better(&f, i);
        for (uint32_t i = n; i--;)
            changed |= is_plain(&f, i) && drop_unused(&f, i);
    }
    for (uint32_t i = 0; i < n; i++)
        if (is_plain(&f, i))
            make_constant(&f, i);
    *new_index = arena_array(a, uint32_t, n + 1);
    left = take_out(&f, *new_index);
    g->n_launches = left;
    return n - left;
}
