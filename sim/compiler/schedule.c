/* List scheduling: critical path first, one bundle at a time. */
#include "sim/compiler/schedule.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    isa_instr *in;
    uint32_t n;
    uint32_t *first_out; /* edges sorted by from: index of the first */
    const sched_edge *edges;
    uint32_t n_edges;
    uint32_t *height; /* longest latency path to the block's end */
    uint32_t *earliest;
    uint32_t *waiting; /* unscheduled predecessors */
    uint32_t free_at[ISA_N_UNITS];
} sched;

static uint32_t latency(const isa_instr *i)
{
    return i->cost ? i->cost : isa_ops[i->op].lat;
}

static int by_from(const void *a, const void *b)
{
    const sched_edge *x = a, *y = b;

    return x->from != y->from ? (x->from < y->from ? -1 : 1)
                              : (x->to > y->to) - (x->to < y->to);
}

static void prepare(sched *s, arena *a, const sched_edge *edges)
{
    sched_edge *sorted = arena_memdup(a, edges, s->n_edges * sizeof *edges);
    uint32_t e = 0;

    qsort(sorted, s->n_edges, sizeof *sorted, by_from);
    s->edges = sorted;
    s->first_out = arena_array(a, uint32_t, s->n + 1);
    s->height = arena_array(a, uint32_t, s->n);
    s->earliest = arena_array(a, uint32_t, s->n);
    s->waiting = arena_array(a, uint32_t, s->n);
    for (uint32_t i = 0; i <= s->n; i++) {
        while (e < s->n_edges && sorted[e].from < i)
            e++;
        s->first_out[i] = e;
    }
    for (e = 0; e < s->n_edges; e++)
        s->waiting[sorted[e].to]++;
    for (uint32_t i = s->n; i-- > 0;) {
        s->height[i] = latency(&s->in[i]);
        for (e = s->first_out[i]; e < s->first_out[i + 1]; e++) {
            uint32_t h = sorted[e].lat + s->height[sorted[e].to];

            if (h > s->height[i])
                s->height[i] = h;
        }
    }
}

/* Takes the operation's slot at cycle t if one is free. */
static bool issue(sched *s, uint32_t i, uint32_t t)
{
    const isa_op_info *op = &isa_ops[s->in[i].op];
    uint32_t held = op->interval;

    if (op->flags & ISA_F_SERIAL && s->in[i].cost)
        held = s->in[i].cost;
    for (unsigned u = 0; u < ISA_N_UNITS; u++)
        if (op->units >> u & 1) {
            bool ok = s->free_at[u] <= t;

            if (op->all_units) {
                for (unsigned k = 0; k < ISA_N_UNITS; k++)
                    ok &= !(op->units >> k & 1) || s->free_at[k] <= t;
                for (unsigned k = 0; ok && k < ISA_N_UNITS; k++)
                    if (op->units >> k & 1)
                        s->free_at[k] = t + held;
            }
            if (!ok)
                continue;
            s->free_at[u] = t + held;
            s->in[i].unit = (uint8_t)u;
            s->in[i].cycle = t;
            return true;
        }
    return false;
}

static void release(sched *s, uint32_t i, uint32_t t)
{
    for (uint32_t e = s->first_out[i]; e < s->first_out[i + 1]; e++) {
        uint32_t to = s->edges[e].to, at = t + s->edges[e].lat;

        if (at > s->earliest[to])
            s->earliest[to] = at;
        s->waiting[to]--;
    }
}

/* The ready operation with the longest way to go; program order breaks ties. */
static uint32_t best_ready(const sched *s, const uint32_t *pending,
                           uint32_t n_pending, uint32_t t, const bool *refused)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t k = 0; k < n_pending; k++) {
        uint32_t i = pending[k];

        if (s->waiting[i] || s->earliest[i] > t || refused[i])
            continue;
        if (best == UINT32_MAX || s->height[i] > s->height[best])
            best = i;
    }
    return best;
}

static int by_cycle(const void *a, const void *b)
{
    const isa_instr *x = a, *y = b;

    if (x->cycle != y->cycle)
        return x->cycle < y->cycle ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

uint32_t schedule_block(isa_instr *instrs, uint32_t n, const sched_edge *edges,
                        uint32_t n_edges, const unsigned char *lives_out,
                        arena *scratch)
{
    sched s = {.in = instrs, .n = n, .n_edges = n_edges};
    uint32_t *pending = arena_array(scratch, uint32_t, n + 1), n_pending = 0;
    bool *refused = arena_array(scratch, bool, n + 1);
    uint32_t body = n, end = 0, done = 0;

    if (!n)
        return 0;
    /* The branch goes where its delay slots end with the block. */
    if (instrs[n - 1].op == ISA_OP_bra)
        body = n - 1;
    prepare(&s, scratch, edges);
    for (uint32_t i = 0; i < body; i++)
        pending[n_pending++] = i;
    for (uint32_t t = 0; done < body; t++) {
        uint32_t i;

        memset(refused, 0, n * sizeof *refused);
        while ((i = best_ready(&s, pending, n_pending, t, refused)) !=
               UINT32_MAX) {
            uint32_t k = 0, leave;

            if (!issue(&s, i, t)) {
                refused[i] = true;
                continue;
            }
            release(&s, i, t);
            done++;
            leave =
                t + (lives_out[i] || instrs[i].cost ? latency(&instrs[i]) : 1);
            if (leave > end)
                end = leave;
            while (pending[k] != i)
                k++;
            memmove(&pending[k], &pending[k + 1],
                    (--n_pending - k) * sizeof *pending);
        }
    }
    if (body < n) {
        uint32_t at = s.earliest[body], tail = ISA_BRANCH_DELAY + 1;

        if (end > tail && end - tail > at)
            at = end - tail;
        while (!issue(&s, body, at))
            at++;
        if (at + tail > end)
            end = at + tail;
    }
    qsort(instrs, n, sizeof *instrs, by_cycle);
    return end;
}
