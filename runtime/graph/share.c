/* Lifetimes of a graph's scratch buffers, and their places. */
#include "runtime/graph/share.h"

#include <string.h>

enum { ALIGNMENT = 64 /* as buffers of their own have */ };

/* Every launch that a buffer is bound to needs it. */
static void find_lives(const graph *g, pool_item *life)
{
    for (uint32_t i = 0; i < g->n_launches; i++) {
        const graph_launch *l = &g->launches[i];

        for (uint32_t k = 0; k < l->n_args; k++) {
            pool_item *x = &life[l->args[k].buffer];

            if (l->args[k].kind != GRAPH_ARG_BUFFER)
                continue;
            if (!x->bytes)
                *x = (pool_item){g->buffers[l->args[k].buffer].bytes, ALIGNMENT,
                                 i, i};
            x->last = i;
        }
    }
}

vpu_status graph_share(graph *g, arena *a, graph_sharing *out, vpu_error *err)
{
    pool_item *life = arena_array(a, pool_item, g->n_buffers + 1);
    uint32_t *buffer = arena_array(a, uint32_t, g->n_buffers + 1);
    size_t n = 0;
    vpu_status st;

    *out = (graph_sharing){.items = arena_array(a, pool_item, g->n_buffers + 1),
                           .names =
                               arena_array(a, const char *, g->n_buffers + 1)};
    find_lives(g, life);
    for (uint32_t i = 0; i < g->n_buffers; i++) {
        if (g->buffers[i].role != GRAPH_SCRATCH || !life[i].bytes)
            continue;
        out->items[n] = life[i];
        out->names[n] = g->buffers[i].name;
        buffer[n++] = i;
    }
    st = pool_plan_make(out->items, n, a, &out->plan, err);
    if (st || out->plan.peak >= out->plan.sum)
        return st;
    g->shared_bytes = out->plan.peak;
    for (size_t i = 0; i < n; i++) {
        g->buffers[buffer[i]].shares = true;
        g->buffers[buffer[i]].offset = out->plan.offsets[i];
    }
    return VPU_OK;
}
