/* Lifetimes of a graph's scratch buffers, and their places. */
#include "runtime/graph/share.h"

#include <string.h>

enum { ALIGNMENT = 64 /* as buffers of their own have */ };

/* Every argument that a buffer is bound to needs it, then. */
static void touch(const graph *g, const graph_arg *args, uint32_t n,
                  uint32_t when, pool_item *life)
{
    for (uint32_t k = 0; k < n; k++) {
        pool_item *x = &life[args[k].buffer];

        if (args[k].kind != GRAPH_ARG_BUFFER)
            continue;
        if (!x->bytes)
            *x = (pool_item){g->buffers[args[k].buffer].bytes, ALIGNMENT, when,
                             when};
        x->last = when;
    }
}

/* What the host needs in front of a launch is needed until that has run. */
static void find_lives(const graph *g, pool_item *life)
{
    uint32_t h = 0;

    for (uint32_t i = 0; i <= g->n_launches; i++) {
        for (; h < g->n_hosts && g->hosts[h].before == i; h++)
            touch(g, g->hosts[h].args, g->hosts[h].n_args, i, life);
        if (i < g->n_launches)
            touch(g, g->launches[i].args, g->launches[i].n_args, i, life);
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
