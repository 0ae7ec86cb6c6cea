/* Who wrote what, by running it again; see trace_back.h. */
#include "runtime/diff/trace_back.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT32_MAX };

typedef struct {
    diff_buffer *d;
    const uint32_t *groups; /* per element */
} counting;

static void count_block(void *user, uint64_t first, uint32_t n,
                        const uint8_t *different)
{
    counting *c = user;

    for (uint32_t k = 0; k < n; k++) {
        uint32_t group = c->groups[first + k];

        if (different[k] && group < c->d->n_groups)
            c->d->n_bad_groups += c->d->bad_in_group[group]++ == 0;
    }
}

/* The tensor's dimension that dimension d of the launch runs along: the usual
 * one (x innermost) or the only one as long as the launch is; -1 = not clear.
 */
static int axis_of(const tensor_desc *t, const graph_launch *l, int d)
{
    int usual = (int)t->rank - 1 - d, found = -1;

    if (usual >= 0 && t->dims[usual] == l->global[d])
        return usual;
    for (uint32_t k = 0; k < t->rank; k++)
        if (t->dims[k] == l->global[d]) {
            if (found >= 0)
                return -1;
            found = (int)k;
        }
    return found;
}

static void find_item(const tensor_desc *t, const graph_launch *l,
                      diff_place *p)
{
    p->item_known = true;
    for (int d = 0; d < 3; d++) {
        uint64_t begin = p->group[d] * l->local[d];
        int axis;

        p->item[d] = 0;
        if (l->local[d] == 1)
            continue;
        axis = axis_of(t, l, d);
        if (axis < 0 || p->at[axis] < begin ||
            p->at[axis] >= begin + l->local[d])
            p->item_known = false;
        else
            p->item[d] = p->at[axis] - (uint32_t)begin;
    }
}

static void find_group(const tensor_desc *t, const graph_launch *l,
                       const uint32_t *groups, diff_place *p)
{
    uint64_t n[3], g = groups[p->element.index];

    for (int d = 0; d < 3; d++)
        n[d] = l->global[d] / l->local[d];
    p->group_known = g != NOBODY;
    if (!p->group_known)
        return;
    p->group[0] = g % n[0];
    p->group[1] = g / n[0] % n[1];
    p->group[2] = g / n[0] / n[1];
    find_item(t, l, p);
}

/* Whose group wrote each element of a buffer last. */
typedef struct {
    uint32_t address, bytes, element_bytes; /* of the buffer */
    uint32_t *groups; /* of each element; others keep their number */
} writers;

static void on_store(void *user, uint64_t group, uint32_t address,
                     uint32_t bytes)
{
    const writers *w = user;
    uint64_t begin = address > w->address ? address - w->address : 0;
    uint64_t end = (uint64_t)address + bytes;

    end = end > w->address ? end - w->address : 0;
    if (end > w->bytes)
        end = w->bytes;
    for (uint64_t at = begin / w->element_bytes; at * w->element_bytes < end;
         at++)
        w->groups[at] = (uint32_t)group;
}

static uint32_t address_of(const backend *s, const graph *g, uint32_t buffer)
{
    const graph_layer_output *o;

    if (buffer < g->n_buffers)
        return backend_address(s, buffer);
    o = &g->layers[buffer - g->n_buffers];
    return backend_address(s, o->buffer) + o->offset;
}

/* Are its elements side by side, in the order of its dims? */
static bool is_packed(const graph *g, uint32_t buffer)
{
    const graph_layer_output *o;
    uint64_t stride;

    if (buffer < g->n_buffers)
        return true;
    o = &g->layers[buffer - g->n_buffers];
    stride = tensor_dtype_bytes(o->as.desc.dtype);
    for (uint32_t k = o->as.desc.rank; k-- > 0;) {
        if (o->strides[k] != stride && o->as.desc.dims[k] > 1)
            return false;
        stride *= o->as.desc.dims[k];
    }
    return true;
}

/* Runs the launch that wrote the buffer, after those before it. */
static vpu_status note_groups(const diff_report *r, const diff_config *cfg,
                              const diff_buffer *d, uint32_t *groups,
                              vpu_error *err)
{
    backend_config run = cfg->run ? *cfg->run : (backend_config){0};
    const graph *g = r->graph;
    void *const *inputs = r->sides[0].inputs;
    const graph_buffer *x = graph_buffer_at(g, d->buffer);
    writers w = {.bytes = (uint32_t)x->bytes,
                 .element_bytes = tensor_dtype_bytes(x->desc.dtype),
                 .groups = groups};
    const exec_observer observer = {.name = "tracing back",
                                    .needs = EXEC_NEED_ORDER,
                                    .user = &w,
                                    .stored = on_store};
    const exec_observer *const list = &observer;
    backend s;
    vpu_status st;

    run.device = "";
    run.how.timing = EXEC_NO_TIMING;
    run.trace = NULL;
    run.log = NULL;
    run.print = NULL;
    st = backend_open(backend_offering(BACKEND_OBSERVE | BACKEND_INSPECT), &run,
                      g, &s, err);
    for (uint32_t i = 0; i < g->n_buffers && !st; i++)
        if (g->buffers[i].role == GRAPH_INPUT)
            memcpy(backend_buffer(&s, i), inputs[i], g->buffers[i].bytes);
    for (uint32_t i = 0; i < d->launch && !st; i++)
        st = backend_run_one(&s, i, err);
    if (!st) {
        w.address = address_of(&s, g, d->buffer);
        s.ops->observe->observers(s.self, &list, 1);
        st = backend_run_one(&s, d->launch, err);
    }
    backend_close(&s);
    return st;
}

vpu_status diff_trace_back(diff_report *r, const diff_config *cfg,
                           diff_buffer *d, const diff_pair *pair, arena *mem,
                           vpu_error *err)
{
    const graph_launch *l = &r->graph->launches[d->launch];
    uint32_t *groups;
    diff_place *places[] = {&d->first, &d->worst, &d->worst_ulp};
    counting c = {.d = d};
    diff_watch watch = {count_block, &c};
    diff_result again;
    vpu_error reason;
    vpu_status st;

    if (l->native || !is_packed(r->graph, d->buffer)) {
        r->not_traced = l->native
                            ? "a stage without a kernel has no work-groups"
                            : "its elements do not lie side by side";
        return VPU_OK;
    }
    d->n_groups = 1;
    for (int k = 0; k < 3; k++)
        d->n_groups *= l->global[k] / l->local[k];
    groups = malloc(d->result.n_elements * sizeof *groups);
    if (!groups)
        return err_set(err, VPU_ERR_NOMEM,
                       "no memory for the work-group of %llu elements",
                       (unsigned long long)d->result.n_elements);
    for (uint64_t i = 0; i < d->result.n_elements; i++)
        groups[i] = NOBODY;
    if (note_groups(r, cfg, d, groups, &reason)) {
        r->not_traced = arena_strdup(mem, reason.msg);
        free(groups);
        return VPU_OK;
    }
    d->bad_in_group = arena_array(mem, uint32_t, d->n_groups + 1);
    c.groups = groups;
    st = diff_compare(pair, &d->tolerance, &watch, &again, err);
    for (int k = 0; k < 3 && !st && d->result.n_diff; k++)
        find_group(pair->desc, l, groups, places[k]);
    free(groups);
    return st;
}
