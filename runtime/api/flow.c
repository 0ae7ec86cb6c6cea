/* What operations read and write: everything that is read was written, and no
 * two of them write parts of one tensor that overlap. */
#include "runtime/api/api_priv.h"

/* Elements of a buffer: a piece of its memory, or a part of its tensor. */
typedef struct {
    uint64_t from, to;      /* bytes; of a part from its first to its last */
    const graph_part *part; /* NULL: all between from and to */
    uint64_t bytes;         /* of its elements */
    const char *by;         /* the launch that has written it */
} place;

typedef struct {
    place *places; /* none of them overlap, unless they are the same */
    size_t n, cap;
} written;

typedef struct {
    const vpu_graph *g;
    arena *a;
    written *buffers; /* of the graph */
    bool free;        /* the launch may write over what others have written */
} flow;

/* --- places --------------------------------------------------------------- */

static place piece_of(const vpu_graph *g, const graph_arg *x)
{
    const graph_buffer *b = &g->g.buffers[x->buffer];
    const vpu_tensor *t = g->tensors[x->buffer];
    uint64_t n = x->bytes   ? x->bytes
                 : x->items ? b->bytes / x->items
                            : b->bytes - x->offset;
    place p = {x->offset, x->offset + n, NULL, n, NULL};

    if (t && t->has_gaps) /* all of it: gaps need not be written */
        p.bytes = t->bytes;
    return p;
}

static place place_of(const vpu_graph *g, const graph_arg *x)
{
    const vpu_tensor *t = g->tensors[x->buffer];
    uint32_t element = t ? vpu_type_bytes(t->type) : 1;
    place p = {.part = x->part, .bytes = element};

    if (!x->part)
        return piece_of(g, x);
    p.from = t->offset;
    p.to = element;
    for (uint32_t i = 0; i < x->part->rank; i++) {
        p.from += x->part->start[i] * t->strides[i];
        p.to += (x->part->dims[i] - 1) * t->strides[i];
        p.bytes *= x->part->dims[i];
    }
    p.to += p.from;
    return p;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Bytes of the elements that are in both. */
static uint64_t in_both(const place *p, const place *q)
{
    uint64_t n = p->part && p->bytes ? p->bytes : 0;
    uint64_t from = p->from > q->from ? p->from : q->from;
    uint64_t to = p->to < q->to ? p->to : q->to;

    if (from >= to)
        return 0;
    if (!p->part && !q->part)
        return p->from == q->from && p->to == q->to ? p->bytes : to - from;
    if (!p->part || !q->part) {
        const place *piece = p->part ? q : p, *part = p->part ? p : q;

        /* All of the part, or nothing that is certain. */
        return piece->from <= part->from && piece->to >= part->to ? part->bytes
                                                                  : 0;
    }
    for (uint32_t i = 0; i < p->part->rank; i++) {
        uint32_t begin = larger(p->part->start[i], q->part->start[i]);
        uint64_t end_p = (uint64_t)p->part->start[i] + p->part->dims[i];
        uint64_t end_q = (uint64_t)q->part->start[i] + q->part->dims[i];
        uint64_t end = end_p < end_q ? end_p : end_q;

        if (end <= begin)
            return 0;
        n = n / p->part->dims[i] * (end - begin);
    }
    return n;
}

static bool is_same(const place *p, const place *q)
{
    return p->from == q->from && p->to == q->to && p->bytes == q->bytes &&
           in_both(p, q) == p->bytes;
}

/* A piece and a part whose ends overlap count as overlapping. */
static bool overlap(const place *p, const place *q)
{
    return !p->part != !q->part ? p->from < q->to && q->from < p->to
                                : in_both(p, q) > 0;
}

/* --- following ------------------------------------------------------------ */

static bool is_written(const flow *f, const graph_arg *x)
{
    const graph_buffer *b = &f->g->g.buffers[x->buffer];
    const written *w = &f->buffers[x->buffer];
    const place wanted = place_of(f->g, x);
    uint64_t has = 0;

    if (b->role == GRAPH_INPUT || b->init)
        return true;
    for (size_t i = 0; i < w->n; i++)
        has += in_both(&w->places[i], &wanted);
    return has >= wanted.bytes;
}

static vpu_status note_written(flow *f, const char *name, const graph_arg *x,
                               vpu_error *err)
{
    const graph_buffer *b = &f->g->g.buffers[x->buffer];
    written *w = &f->buffers[x->buffer];
    place p = place_of(f->g, x);

    p.by = name;
    for (size_t i = 0; i < w->n; i++) {
        const place *q = &w->places[i];

        if (is_same(q, &p))
            return VPU_OK;
        if (!f->free && overlap(q, &p))
            return err_set(err, VPU_ERR_INVALID,
                           "%s and %s write parts of %s that overlap: bytes "
                           "%llu to %llu and %llu to %llu",
                           q->by, p.by, b->name, (unsigned long long)q->from,
                           (unsigned long long)q->to,
                           (unsigned long long)p.from,
                           (unsigned long long)p.to);
    }
    *arena_append(f->a, w->places, w->n, w->cap) = p;
    return VPU_OK;
}

static vpu_status follow(flow *f, const char *name, const graph_arg *args,
                         uint32_t n, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t k = 0; k < n; k++) {
        const graph_arg *x = &args[k];

        /* What passes between the stages of one layer is the binding's
         * business; checkers look at it. */
        if (x->kind == GRAPH_ARG_BUFFER && !x->written &&
            f->g->tensors[x->buffer] && !is_written(f, x))
            return err_set(err, VPU_ERR_INVALID,
                           "%s reads tensor %s, which nothing has written yet: "
                           "operations run in the order they were added",
                           name, f->g->g.buffers[x->buffer].name);
    }
    for (uint32_t k = 0; k < n && !st; k++)
        if (args[k].kind == GRAPH_ARG_BUFFER && args[k].written)
            st = note_written(f, name, &args[k], err);
    return st;
}

/* Launch i, and before it what the host does; behind the last only that. */
static vpu_status follow_launch(flow *f, uint32_t i, vpu_error *err)
{
    const graph *g = &f->g->g;
    const graph_launch *l = &g->launches[i];
    vpu_status st = VPU_OK;

    for (uint32_t h = 0; h < g->n_hosts && !st; h++)
        if (g->hosts[h].before == i)
            st = follow(f, g->hosts[h].name, g->hosts[h].args,
                        g->hosts[h].n_args, err);
    if (st || i == g->n_launches)
        return st;
    f->free = l->of_blob || l->program;
    return follow(f, l->name, l->args, l->n_args, err);
}

vpu_status api_graph_check_flow(const vpu_graph *g, arena *a, vpu_error *err)
{
    flow f = {g, a, arena_array(a, written, g->g.n_buffers + 1), false};
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i <= g->g.n_launches && !st; i++)
        st = follow_launch(&f, i, err);
    for (uint32_t i = 0; i < g->g.n_buffers && !st; i++) {
        const graph_arg whole = {.buffer = i};

        if (g->g.buffers[i].role == GRAPH_OUTPUT && !is_written(&f, &whole))
            st = err_set(err, VPU_ERR_INVALID, "nothing writes output %s%s",
                         g->g.buffers[i].name,
                         f.buffers[i].n ? ", or only parts of it" : "");
    }
    return st;
}
