/* List scheduling: one bundle at a time, the longest path first. */
#include <stdlib.h>
#include <string.h>

#include "sim/shave/passes.h"

typedef struct {
    vblock *b;
    uint32_t n;
    uint32_t *first_out; /* dependences sorted by from: index of the first */
    dep *deps;
    uint32_t n_deps;
    uint32_t *height; /* longest latency path to the block's end */
    uint32_t *earliest;
    uint32_t *waiting; /* unscheduled predecessors */
    uint32_t free_at[ISA_N_UNITS];
    bool narrow;
} sched;

static int by_from(const void *a, const void *b)
{
    const dep *x = a, *y = b;

    return x->from != y->from ? (x->from < y->from ? -1 : 1)
                              : (x->to > y->to) - (x->to < y->to);
}

static uint32_t own_latency(const isa_instr *in)
{
    return isa_n_dst((isa_op)in->op) || in->cost ? deps_latency(in, 0) : 1;
}

static void prepare(sched *s, arena *a)
{
    dep_list list = {0};
    uint32_t e = 0;

    deps_of_block(s->b, a, &list);
    s->deps = list.list;
    s->n_deps = (uint32_t)list.n;
    if (s->n_deps)
        qsort(s->deps, s->n_deps, sizeof *s->deps, by_from);
    s->first_out = arena_array(a, uint32_t, s->n + 1);
    s->height = arena_array(a, uint32_t, s->n);
    s->earliest = arena_array(a, uint32_t, s->n);
    s->waiting = arena_array(a, uint32_t, s->n);
    for (uint32_t i = 0; i <= s->n; i++) {
        while (e < s->n_deps && s->deps[e].from < i)
            e++;
        s->first_out[i] = e;
    }
    for (e = 0; e < s->n_deps; e++)
        s->waiting[s->deps[e].to]++;
    for (uint32_t i = s->n; i-- > 0;) {
        s->height[i] = own_latency(&s->b->ops[i].in);
        for (e = s->first_out[i]; e < s->first_out[i + 1]; e++) {
            uint32_t h = (uint32_t)s->deps[e].lat + s->height[s->deps[e].to];

            if (h > s->height[i])
                s->height[i] = h;
        }
    }
}

/* Takes the operation's slot at cycle t if one is free. */
static bool issue(sched *s, uint32_t i, uint32_t t)
{
    isa_instr *in = &s->b->ops[i].in;
    const isa_op_info *op = &isa_ops[in->op];
    uint32_t held = op->interval;

    if (!op->units) {
        in->cycle = t;
        return true;
    }
    for (unsigned u = 0; u < ISA_N_UNITS; u++) {
        bool ok = s->free_at[u] <= t;

        if (!(op->units >> u & 1))
            continue;
        if (op->all_units)
            for (unsigned k = 0; k < ISA_N_UNITS; k++)
                ok &= !(op->units >> k & 1) || s->free_at[k] <= t;
        if (!ok)
            continue;
        for (unsigned k = 0; k < ISA_N_UNITS; k++)
            if (k == u || (op->all_units && op->units >> k & 1))
                s->free_at[k] = t + held;
        in->unit = (uint8_t)u;
        in->cycle = t;
        return true;
    }
    return false;
}

static void release(sched *s, uint32_t i, uint32_t t)
{
    for (uint32_t e = s->first_out[i]; e < s->first_out[i + 1]; e++) {
        uint32_t to = s->deps[e].to, at = t + (uint32_t)s->deps[e].lat;

        if (at > s->earliest[to])
            s->earliest[to] = at;
        s->waiting[to]--;
    }
}

/* The ready operation to take; program order breaks ties. */
static uint32_t best_ready(const sched *s, const uint32_t *pending,
                           uint32_t n_pending, uint32_t t, const bool *refused)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t k = 0; k < n_pending; k++) {
        uint32_t i = pending[k];

        if (s->waiting[i] || s->earliest[i] > t || refused[i])
            continue;
        if (s->narrow)
            return i;
        if (best == UINT32_MAX || s->height[i] > s->height[best])
            best = i;
    }
    return best;
}

/* The branch goes where its delay slots end with the block. */
static uint32_t place_branch(sched *s, uint32_t i, uint32_t end)
{
    uint32_t at = s->earliest[i], tail = ISA_BRANCH_DELAY + 1;

    if (end > tail && end - tail > at)
        at = end - tail;
    while (!issue(s, i, at))
        at++;
    return at + tail > end ? at + tail : end;
}

void schedule_block(vblock *b, bool narrow, arena *scratch)
{
    sched s = {.b = b, .n = (uint32_t)b->n, .narrow = narrow};
    uint32_t *pending = arena_array(scratch, uint32_t, s.n + 1), n_pending = 0;
    bool *refused = arena_array(scratch, bool, s.n + 1);
    uint32_t body = s.n - (vp_branch(b) ? 1 : 0), end = 0, done = 0;

    b->cycles = 0;
    if (!s.n)
        return;
    for (uint32_t i = 0; i < s.n; i++)
        b->ops[i].in.seq = i;
    prepare(&s, scratch);
    for (uint32_t i = 0; i < body; i++)
        pending[n_pending++] = i;
    for (uint32_t t = 0; done < body; t++) {
        uint32_t i;

        memset(refused, 0, s.n * sizeof *refused);
        while ((i = best_ready(&s, pending, n_pending, t, refused)) !=
               UINT32_MAX) {
            uint32_t k = 0, leave;

            if (!issue(&s, i, t)) {
                refused[i] = true;
                continue;
            }
            release(&s, i, t);
            done++;
            leave = t + own_latency(&b->ops[i].in);
            if (leave > end)
                end = leave;
            while (pending[k] != i)
                k++;
            memmove(&pending[k], &pending[k + 1],
                    (--n_pending - k) * sizeof *pending);
        }
    }
    if (body < s.n)
        end = place_branch(&s, body, end);
    b->cycles = end;
}
