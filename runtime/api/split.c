/* One graph on several devices at once: each runs a part of every launch, and
 * what the parts have written is brought together behind it. */
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/api/api_priv.h"

typedef struct {
    vpu_graph *const *graphs;
    size_t n;
    uint32_t dimension;       /* 0 = each launch's longest, else from 1 */
    backend_result **results; /* of each graph's launches */
    uint64_t copied;
    vpu_result **out; /* NULL = nobody wants them */
    arena *a;
} splitting;

/* --- alike ---------------------------------------------------------------- */

static vpu_status differ(size_t k, const char *what, vpu_error *err)
{
    return err_set(err, VPU_ERR_MISMATCH,
                   "graph %zu differs from graph 0 in %s: the same operations "
                   "are needed in each",
                   k, what);
}

static bool same_launch(const graph_launch *p, const graph_launch *q)
{
    return !strcmp(p->name, q->name) && !strcmp(p->entry, q->entry) &&
           !memcmp(p->global, q->global, sizeof p->global) &&
           !memcmp(p->local, q->local, sizeof p->local);
}

static vpu_status compare(const splitting *s, size_t k, vpu_error *err)
{
    const graph *p = &s->graphs[0]->g, *q = &s->graphs[k]->g;

    if (p->n_launches != q->n_launches || p->n_buffers != q->n_buffers)
        return differ(k, "the number of its launches or tensors", err);
    for (uint32_t i = 0; i < p->n_launches; i++)
        if (!same_launch(&p->launches[i], &q->launches[i]))
            return differ(k, p->launches[i].name, err);
    for (uint32_t i = 0; i < p->n_buffers; i++)
        if (p->buffers[i].role != q->buffers[i].role ||
            p->buffers[i].bytes != q->buffers[i].bytes)
            return differ(k, p->buffers[i].name, err);
    return VPU_OK;
}

static vpu_status check_graphs(const splitting *s, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (size_t k = 0; k < s->n && !st; k++) {
        const vpu_graph *g = s->graphs[k];

        st = api_need(g, "a graph", err);
        for (size_t i = 0; i < k && !st; i++)
            if (s->graphs[i] == g)
                st = err_set(err, VPU_ERR_INVALID,
                             "graphs %zu and %zu are one: each device has a "
                             "graph of its own",
                             i, k);
        if (!st && !g->open.ops)
            st = api_graph_check_ready(g, err);
        if (!st)
            st = api_needs_windows(g, err);
        if (!st)
            st = api_hosts_refuse(g, "parts run kernels alone", err);
        if (!st)
            st = compare(s, k, err);
        for (const vpu_operation *op = st ? NULL : g->operations; op && !st;
             op = op->next)
            if (op->in_part)
                st = err_set(err, VPU_ERR_INVALID,
                             "operation %s of graph %zu has a window of its "
                             "own: vpu_operation_set_window",
                             op->name, k);
    }
    return st ? st : api_graph_check_ready(s->graphs[0], err);
}

/* --- memory --------------------------------------------------------------- */

/* Whatever earlier runs have left: all devices begin with the same bytes. */
static void make_equal(const splitting *s)
{
    const graph *g = &s->graphs[0]->g;

    for (size_t k = 1; k < s->n; k++)
        for (uint32_t i = 0; i < g->n_buffers; i++)
            if (g->buffers[i].role != GRAPH_CONST)
                memcpy(backend_buffer(&s->graphs[k]->open, i),
                       backend_buffer(&s->graphs[0]->open, i),
                       g->buffers[i].bytes);
}

static vpu_status both_wrote(const graph_launch *l, const graph_buffer *b,
                             uint64_t element, size_t k, vpu_error *err)
{
    return err_set(err, VPU_ERR_UNSUPPORTED,
                   "%s cannot be split: part %zu and one before it both wrote "
                   "element %llu of %s, whose value depends on their order",
                   l->name, k, (unsigned long long)element, b->name);
}

/* What part k has changed of a buffer, which was `before`, into `all`. */
static vpu_status take_changes(const graph_launch *l, const graph_buffer *b,
                               size_t k, const char *before, const char *part,
                               char *all, vpu_error *err)
{
    uint32_t size = b->untyped ? 1 : tensor_dtype_bytes(b->desc.dtype);

    for (uint64_t i = 0; i + size <= b->bytes; i += size) {
        if (!memcmp(before + i, part + i, size))
            continue;
        if (memcmp(before + i, all + i, size))
            return both_wrote(l, b, i / size, k, err);
        memcpy(all + i, part + i, size);
    }
    return VPU_OK;
}

static vpu_status bring_together(const splitting *s, const graph_launch *l,
                                 uint32_t i, const char *before, vpu_error *err)
{
    const graph_buffer *b = &s->graphs[0]->g.buffers[i];
    arena_mark m = arena_save(s->a);
    char *all = arena_memdup(s->a, before, b->bytes);
    vpu_status st = VPU_OK;

    for (size_t k = 0; k < s->n && !st; k++)
        st = take_changes(l, b, k, before,
                          backend_buffer(&s->graphs[k]->open, i), all, err);
    for (size_t k = 0; k < s->n && !st; k++)
        memcpy(backend_buffer(&s->graphs[k]->open, i), all, b->bytes);
    arena_restore(s->a, m);
    return st;
}

/* --- a launch ------------------------------------------------------------- */

static uint32_t groups_along(const vpu_window *w, uint32_t d)
{
    return (w->end[d] - w->start[d]) / w->step[d];
}

static uint32_t longest(const vpu_window *w)
{
    uint32_t best = 0;

    for (uint32_t d = 1; d < 3; d++)
        if (groups_along(w, d) > groups_along(w, best))
            best = d;
    return best;
}

static vpu_status run_part(const splitting *s, size_t k, uint32_t launch,
                           const vpu_window *part, vpu_error *err)
{
    vpu_graph *g = s->graphs[k];
    graph_launch *l = &g->g.launches[launch];
    const vpu_window whole = api_window_of(l);
    vpu_status st;

    api_window_take(l, part);
    st = backend_run(&g->open, launch, 1, &s->results[k][launch], err);
    api_window_take(l, &whole);
    return st ? err_in(err, st, "part %zu", k) : VPU_OK;
}

/* Contents of what the launch writes, by its arguments; NULL: not written, or
 * by an argument before it. */
static const char **contents_before(const splitting *s, const graph_launch *l)
{
    const char **list = arena_array(s->a, const char *, l->n_args + 1);

    for (uint32_t i = 0; i < l->n_args; i++) {
        const graph_arg *x = &l->args[i];
        bool again = x->kind != GRAPH_ARG_BUFFER || !x->written;

        for (uint32_t k = 0; k < i && !again; k++)
            again = list[k] && l->args[k].buffer == x->buffer;
        if (!again)
            list[i] = arena_memdup(
                s->a, backend_buffer(&s->graphs[0]->open, x->buffer),
                s->graphs[0]->g.buffers[x->buffer].bytes);
    }
    return list;
}

static vpu_status run_launch(const splitting *s, uint32_t i, vpu_error *err)
{
    const graph_launch *l = &s->graphs[0]->g.launches[i];
    arena_mark m = arena_save(s->a);
    const char **before = contents_before(s, l);
    const vpu_window whole = api_window_of(l);
    uint32_t d = s->dimension ? s->dimension - 1 : longest(&whole);
    uint32_t groups = groups_along(&whole, d);
    uint32_t parts = groups < s->n ? groups : (uint32_t)s->n;
    vpu_status st = VPU_OK;
    vpu_window part;

    for (uint32_t k = 0; k < parts && !st; k++) {
        st = vpu_window_split(&whole, d, k, parts, &part, err);
        if (!st)
            st = run_part(s, k, i, &part, err);
    }
    for (uint32_t k = 0; k < l->n_args && !st; k++)
        if (before[k])
            st = bring_together(s, l, l->args[k].buffer, before[k], err);
    arena_restore(s->a, m);
    return st;
}

static vpu_status make_results(const splitting *s, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (size_t k = 0; k < s->n && s->out && !st; k++) {
        const api_run run = {.graph = s->graphs[k],
                             .results = s->results[k],
                             .repeat = 1,
                             .copied = k ? 0 : s->copied};

        st = api_result_create(&s->out[k], &run, err);
    }
    return st;
}

static vpu_status run_split(void *user, vpu_error *err)
{
    splitting *s = user;
    uint32_t n = s->graphs[0]->g.n_launches;
    vpu_status st = VPU_OK;

    s->a = arena_create(0);
    s->results = arena_array(s->a, backend_result *, s->n);
    for (size_t k = 0; k < s->n; k++) {
        api_result_settle(s->graphs[k]);
        atomic_store(&s->graphs[k]->cancel, false);
        s->results[k] = arena_array(s->a, backend_result, n + 1);
    }
    st = api_run_write_inputs(s->graphs[0], &s->copied, err);
    if (!st)
        make_equal(s);
    for (uint32_t i = 0; i < n && !st; i++)
        st = run_launch(s, i, err);
    if (!st)
        st = api_run_read_outputs(s->graphs[0], &s->copied, err);
    return st ? st : make_results(s, err);
}

vpu_status vpu_graph_run_split(vpu_graph *const *graphs, size_t n,
                               const vpu_split_options *options,
                               vpu_result **results, vpu_error *err)
{
    vpu_split_options o;
    splitting s = {.graphs = graphs, .n = n, .out = results};
    vpu_status st = api_need(graphs, "graphs", err);

    for (size_t k = 0; results && k < n; k++)
        results[k] = NULL;
    if (!st && !n)
        st = err_set(err, VPU_ERR_INVALID, "no graph is given");
    if (!st)
        st = api_take_options(&o, sizeof o, options, "vpu_split_options", err);
    if (!st)
        st = api_check_enum(o.dimension, 3, "dimension", err);
    if (!st)
        st = check_graphs(&s, err);
    if (st)
        return st;
    s.dimension = o.dimension;
    st = oom_guard(run_split, &s, err);
    for (size_t k = 0; st && results && k < n; k++) {
        vpu_result_free(results[k]);
        results[k] = NULL;
    }
    if (!st)
        for (size_t k = 0; k < n; k++)
            graphs[k]->ran = true;
    arena_destroy(s.a);
    return st;
}
