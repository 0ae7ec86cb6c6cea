/* Iterative modulo scheduling. */
#include "sim/shave/modulo.h"

#include <string.h>

enum { MAX_INTERVAL = 256, TRIES_PER_OP = 8, UNSET = -1 };

typedef struct {
    modulo_loop *l;
    int32_t ii;
    int32_t *time, *never; /* never: earliest time it may be tried at again */
    int32_t *height;
    int32_t *taken[ISA_N_UNITS]; /* by slot: operation + 1 */
    /* Edges of operation i, in their order: all of touching[first[i]] up to
     * touching[first[i + 1] - 1]. */
    uint32_t *first, *touching;
} state;

static const isa_op_info *info(const state *s, uint32_t i)
{
    return &isa_ops[s->l->ops[i].in.op];
}

/* --- bounds -------------------------------------------------------------- */

static uint32_t resource_bound(const modulo_loop *l)
{
    uint32_t busy[ISA_N_UNITS] = {0}, lsu = 0, most = 1;

    for (uint32_t i = 0; i < l->n_ops; i++) {
        const isa_op_info *o = &isa_ops[l->ops[i].in.op];
        unsigned n = (unsigned)__builtin_popcount(o->units);

        if (n == 1)
            busy[__builtin_ctz(o->units)] += o->interval;
        else if (n > 1)
            lsu += o->interval * (o->all_units ? n : 1);
        if (o->interval > most)
            most = o->interval;
    }
    for (int u = 0; u < ISA_N_UNITS; u++)
        most = busy[u] > most ? busy[u] : most;
    return (lsu + 1) / 2 > most ? (lsu + 1) / 2 : most;
}

/* Longest paths to the end; false when a circle of dependences takes longer
 * than its iterations. */
static bool heights(state *s)
{
    modulo_loop *l = s->l;
    bool again = true;

    for (uint32_t i = 0; i < l->n_ops; i++)
        s->height[i] = isa_ops[l->ops[i].in.op].lat;
    for (uint32_t round = 0; again; round++) {
        again = false;
        if (round > l->n_ops + 1)
            return false;
        for (size_t e = 0; e < l->n_edges; e++) {
            const modulo_edge *d = &l->edges[e];
            int32_t h =
                s->height[d->to] + d->lat - s->ii * (int32_t)d->distance;

            if (h > s->height[d->from]) {
                s->height[d->from] = h;
                again = true;
            }
        }
    }
    return true;
}

/* --- slots --------------------------------------------------------------- */

static bool unit_free(const state *s, unsigned u, int32_t t, unsigned held)
{
    for (unsigned k = 0; k < held; k++)
        if (s->taken[u][(t + (int32_t)k) % s->ii])
            return false;
    return true;
}

static void hold(state *s, unsigned u, int32_t t, unsigned held, int32_t by)
{
    for (unsigned k = 0; k < held; k++)
        s->taken[u][(t + (int32_t)k) % s->ii] = by;
}

/* The unit that can take i at t, or -1. */
static int find_unit(const state *s, uint32_t i, int32_t t)
{
    const isa_op_info *o = info(s, i);
    int first = -1;

    for (unsigned u = 0; u < ISA_N_UNITS; u++) {
        bool ok;

        if (!(o->units >> u & 1))
            continue;
        ok = unit_free(s, u, t, o->interval);
        if (o->all_units && !ok)
            return -1;
        if (ok && first < 0)
            first = (int)u;
    }
    return first;
}

static void occupy(state *s, uint32_t i, int32_t t, unsigned u, int32_t by)
{
    const isa_op_info *o = info(s, i);

    for (unsigned k = 0; k < ISA_N_UNITS; k++)
        if (k == u || (o->all_units && o->units >> k & 1))
            hold(s, k, t, o->interval, by);
}

static void put_back(state *s, uint32_t i)
{
    if (s->time[i] == UNSET)
        return;
    occupy(s, i, s->time[i], s->l->unit[i], 0);
    s->time[i] = UNSET;
}

/* Makes room for i at t on the first unit that may take it. */
static unsigned make_room(state *s, uint32_t i, int32_t t)
{
    const isa_op_info *o = info(s, i);
    unsigned u = (unsigned)__builtin_ctz(o->units);

    for (unsigned k = 0; k < ISA_N_UNITS; k++) {
        if (k != u && !(o->all_units && o->units >> k & 1))
            continue;
        for (unsigned h = 0; h < o->interval; h++) {
            int32_t by = s->taken[k][(t + (int32_t)h) % s->ii];

            if (by)
                put_back(s, (uint32_t)by - 1);
        }
    }
    return u;
}

/* --- placing ------------------------------------------------------------- */

static void index_edges(state *s, arena *a)
{
    const modulo_loop *l = s->l;
    uint32_t *next = arena_array(a, uint32_t, l->n_ops + 1);

    s->first = arena_array(a, uint32_t, l->n_ops + 1);
    s->touching = arena_array(a, uint32_t, 2 * l->n_edges + 1);
    for (size_t e = 0; e < l->n_edges; e++) {
        s->first[l->edges[e].from + 1]++;
        s->first[l->edges[e].to + 1] += l->edges[e].to != l->edges[e].from;
    }
    for (uint32_t i = 0; i < l->n_ops; i++)
        next[i + 1] = s->first[i + 1] += s->first[i];
    for (size_t e = 0; e < l->n_edges; e++) {
        s->touching[next[l->edges[e].from]++] = (uint32_t)e;
        if (l->edges[e].to != l->edges[e].from)
            s->touching[next[l->edges[e].to]++] = (uint32_t)e;
    }
}

static int32_t earliest(const state *s, uint32_t i)
{
    const modulo_loop *l = s->l;
    int32_t t = 0;

    for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++) {
        const modulo_edge *d = &l->edges[s->touching[k]];
        int32_t at;

        if (d->to != i || d->from == i || s->time[d->from] == UNSET)
            continue;
        at = s->time[d->from] + d->lat - s->ii * (int32_t)d->distance;
        t = at > t ? at : t;
    }
    return t;
}

static void put_back_broken(state *s, uint32_t i)
{
    const modulo_loop *l = s->l;

    for (uint32_t k = s->first[i]; k < s->first[i + 1]; k++) {
        const modulo_edge *d = &l->edges[s->touching[k]];
        uint32_t other = d->from == i ? d->to : d->from;

        if (other == i || s->time[other] == UNSET || s->time[i] == UNSET)
            continue;
        if (s->time[d->to] <
            s->time[d->from] + d->lat - s->ii * (int32_t)d->distance)
            put_back(s, other);
    }
}

static void place(state *s, uint32_t i)
{
    int32_t from = earliest(s, i), t = from;
    int u = -1;

    for (; t < from + s->ii; t++)
        if ((u = find_unit(s, i, t)) >= 0)
            break;
    if (u < 0) {
        t = from > s->never[i] ? from : s->never[i];
        u = (int)make_room(s, i, t);
    }
    occupy(s, i, t, (unsigned)u, (int32_t)i + 1);
    s->time[i] = t;
    s->l->unit[i] = (uint8_t)u;
    s->never[i] = t + 1;
    put_back_broken(s, i);
}

static uint32_t highest_unset(const state *s)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < s->l->n_ops; i++)
        if (s->time[i] == UNSET &&
            (best == UINT32_MAX || s->height[i] > s->height[best]))
            best = i;
    return best;
}

static bool sound(const state *s)
{
    const modulo_loop *l = s->l;

    for (size_t e = 0; e < l->n_edges; e++) {
        const modulo_edge *d = &l->edges[e];

        if (s->time[d->to] <
            s->time[d->from] + d->lat - s->ii * (int32_t)d->distance)
            return false;
    }
    return true;
}

static bool try_interval(state *s)
{
    modulo_loop *l = s->l;
    uint32_t budget = TRIES_PER_OP * l->n_ops + 16, i;
    int32_t last = 0;

    for (uint32_t k = 0; k < l->n_ops; k++) {
        s->time[k] = UNSET;
        s->never[k] = 0;
    }
    for (int u = 0; u < ISA_N_UNITS; u++)
        memset(s->taken[u], 0, (size_t)s->ii * sizeof *s->taken[u]);
    if (!heights(s))
        return false;
    while ((i = highest_unset(s)) != UINT32_MAX) {
        if (!budget--)
            return false;
        place(s, i);
    }
    if (!sound(s))
        return false;
    for (uint32_t k = 0; k < l->n_ops; k++)
        last = s->time[k] > last ? s->time[k] : last;
    l->interval = (uint32_t)s->ii;
    l->stages = (uint32_t)last / l->interval + 1;
    return l->stages <= MOD_MAX_STAGES;
}

bool modulo_may_fit(const modulo_loop *l)
{
    return resource_bound(l) < MAX_INTERVAL;
}

bool modulo_schedule(modulo_loop *l, uint32_t limit, arena *a)
{
    state s = {.l = l};
    uint32_t bound = resource_bound(l);

    if (!l->n_ops)
        return false;
    limit = limit < MAX_INTERVAL ? limit : MAX_INTERVAL;
    s.time = arena_array(a, int32_t, l->n_ops);
    s.never = arena_array(a, int32_t, l->n_ops);
    s.height = arena_array(a, int32_t, l->n_ops);
    l->time = arena_array(a, uint32_t, l->n_ops);
    l->unit = arena_array(a, uint8_t, l->n_ops);
    for (int u = 0; u < ISA_N_UNITS; u++)
        s.taken[u] = arena_array(a, int32_t, limit + 1);
    index_edges(&s, a);
    for (uint32_t ii = bound; ii < limit; ii++) {
        s.ii = (int32_t)ii;
        if (!try_interval(&s))
            continue;
        for (uint32_t k = 0; k < l->n_ops; k++)
            l->time[k] = (uint32_t)s.time[k];
        return true;
    }
    return false;
}
