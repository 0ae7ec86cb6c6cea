/* List scheduling: one bundle at a time, the longest path first, within the
 * registers there are. */
#include <stdlib.h>
#include <string.h>

#include "sim/ir/ir.h"
#include "sim/shave/passes.h"

/* What makes a value goes no further ahead of program order than so many
 * operations, a few latencies of full bundles: what is fetched much earlier
 * holds the registers that what is wanted now needs. */
enum { AHEAD = 112 };

/* What a register holds between a write and the last read. Point k of a block
 * is in front of operation k. */
typedef struct {
    uint32_t first, last; /* points it is alive at */
    uint32_t *uses;       /* operations, ascending */
    size_t n, cap;
    uint32_t left; /* of them, not yet issued */
    bool file;     /* V */
} value;

typedef struct {
    vp_block *b;
    uint32_t n;
    uint32_t *first_out; /* dependences sorted by from: index of the first */
    deps_edge *deps;
    uint32_t n_deps;
    uint32_t *height; /* longest latency path to the block's end */
    uint32_t *earliest;
    uint32_t *waiting; /* unscheduled predecessors */
    uint32_t *ready;   /* operations that wait for none */
    uint32_t n_ready;
    uint32_t *refused; /* cycle an operation found no slot in, + 1 */
    uint32_t body;     /* operations but the branch */
    uint32_t free_at[ISA_N_UNITS];
    /* Register pressure. */
    const vprog *p;
    value *values;
    size_t n_values, values_cap;
    uint32_t *src;                     /* per operation and source: the value */
    ir_map current;                    /* register -> value it holds, + 1 */
    uint32_t *profile[2], *highest[2]; /* per file and point */
    uint32_t room;
    uint32_t oldest; /* first operation in program order not yet issued */
    bool *issued;
} sched;

/* By from; those of one operation stay in the order they come in, which is that
 * of to. Not by qsort: long blocks have millions. */
static void sort_edges(sched *s, const deps_list *list, arena *a)
{
    uint32_t *at = arena_array(a, uint32_t, s->n + 1), sum = 0;

    s->n_deps = (uint32_t)list->n;
    s->deps = arena_array(a, deps_edge, s->n_deps + 1);
    s->first_out = arena_array(a, uint32_t, s->n + 1);
    for (uint32_t e = 0; e < s->n_deps; e++)
        s->first_out[list->list[e].from + 1]++;
    for (uint32_t i = 0; i <= s->n; i++)
        at[i] = s->first_out[i] = sum += s->first_out[i];
    for (uint32_t e = 0; e < s->n_deps; e++)
        s->deps[at[list->list[e].from]++] = list->list[e];
}

static uint32_t own_latency(const isa_instr *in)
{
    return isa_n_dst((isa_op)in->op) || in->cost ? deps_latency(in, 0) : 1;
}

static void prepare(sched *s, arena *a)
{
    deps_list list = {0};

    deps_of_block(s->b, a, &list);
    sort_edges(s, &list, a);
    s->height = arena_array(a, uint32_t, s->n);
    s->earliest = arena_array(a, uint32_t, s->n);
    s->waiting = arena_array(a, uint32_t, s->n);
    for (uint32_t e = 0; e < s->n_deps; e++)
        s->waiting[s->deps[e].to]++;
    for (uint32_t i = s->n; i-- > 0;) {
        s->height[i] = own_latency(&s->b->ops[i].in);
        for (uint32_t e = s->first_out[i]; e < s->first_out[i + 1]; e++) {
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
        if (!--s->waiting[to] && to < s->body)
            s->ready[s->n_ready++] = to;
    }
}

/* --- pressure
 * ----------------------------------------------------------------
 *
 * What has issued, and then the rest in program order, is one order of the
 * operations; `profile` says how many values are alive at each of its points.
 * An operation may go ahead of that order when its results have room at every
 * point they are now carried over, so the order never needs more than `room`
 * unless program order itself does. */

static uint32_t new_value(sched *s, arena *a, isa_operand x)
{
    value *v = arena_append(a, s->values, s->n_values, s->values_cap);

    *v = (value){.file = x.kind == ISA_V};
    return (uint32_t)s->n_values - 1;
}

static uint32_t value_of(sched *s, isa_operand x, arena *a)
{
    uintptr_t n = (uintptr_t)ir_map_get(&s->current, vp_key(x));

    if (!n) { /* alive since before the block */
        n = new_value(s, a, x) + 1;
        ir_map_set(&s->current, vp_key(x), (void *)n);
    }
    return (uint32_t)n - 1;
}

static void read_values(sched *s, uint32_t i, arena *a)
{
    for (unsigned k = 0; k < ISA_MAX_SRC; k++) {
        isa_operand x = s->b->ops[i].in.src[k];
        value *v;

        s->src[i * ISA_MAX_SRC + k] = UINT32_MAX;
        if (!vp_is_reg(x))
            continue;
        s->src[i * ISA_MAX_SRC + k] = value_of(s, x, a);
        v = &s->values[s->src[i * ISA_MAX_SRC + k]];
        if (!v->n || v->uses[v->n - 1] != i)
            *arena_append(a, v->uses, v->n, v->cap) = i;
        v->left = (uint32_t)v->n;
        v->last = i;
    }
}

static void write_values(sched *s, uint32_t i, arena *a)
{
    for (unsigned k = 0; k < ISA_MAX_DST; k++) {
        isa_operand x = s->b->ops[i].in.dst[k];
        uint32_t v;

        if (!vp_is_reg(x))
            continue;
        v = new_value(s, a, x);
        s->values[v].first = s->values[v].last = i + 1;
        ir_map_set(&s->current, vp_key(x), (void *)((uintptr_t)v + 1));
    }
}

/* Values that live through or out of the block end behind it. */
static void live_out(sched *s, const uint64_t *in, const uint64_t *out,
                     arena *a)
{
    uint32_t words = (uint32_t)s->p->n_regs / 64 + 1;

    for (uint32_t w = 0; w < words; w++)
        for (uint64_t bits = in[w] | out[w]; bits; bits &= bits - 1) {
            uint32_t r = w * 64 + (uint32_t)__builtin_ctzll(bits);
            uint32_t v;

            if (!(out[w] & bits & -bits))
                continue;
            v = value_of(s, (isa_operand){s->p->classes[r], r}, a);
            s->values[v].last = s->n;
        }
}

/* The greatest need from the front of the order to each point that something
 * may be taken from. */
static void measure(sched *s)
{
    for (int f = 0; f < 2; f++) {
        uint32_t most = 0;

        for (uint32_t at = s->oldest; at < s->n && at <= s->oldest + AHEAD;
             at++) {
            if (s->profile[f][at] > most)
                most = s->profile[f][at];
            s->highest[f][at] = most;
        }
    }
}

static void start_pressure(sched *s, const uint64_t *in, const uint64_t *out,
                           arena *a)
{
    ir_map_init(&s->current, a);
    s->src = arena_array(a, uint32_t, s->n *ISA_MAX_SRC + 1);
    for (uint32_t i = 0; i < s->n; i++) {
        read_values(s, i, a);
        write_values(s, i, a);
    }
    live_out(s, in, out, a);
    for (int f = 0; f < 2; f++) {
        s->profile[f] = arena_array(a, uint32_t, s->n + 2);
        s->highest[f] = arena_array(a, uint32_t, s->n + 2);
    }
    for (size_t v = 0; v < s->n_values; v++)
        for (uint32_t at = s->values[v].first; at <= s->values[v].last; at++)
            s->profile[s->values[v].file][at]++;
    measure(s);
}

/* Is operation i the only one left that reads v, which ends with it? */
static bool ends_with(const sched *s, uint32_t v, uint32_t i)
{
    return s->values[v].last == i && s->values[v].left == 1;
}

/* Is source k of i not the same value as an earlier one? */
static bool is_first(const sched *s, uint32_t i, unsigned k)
{
    for (unsigned j = 0; j < k; j++)
        if (s->src[i * ISA_MAX_SRC + j] == s->src[i * ISA_MAX_SRC + k])
            return false;
    return s->src[i * ISA_MAX_SRC + k] != UINT32_MAX;
}

static bool fits(const sched *s, uint32_t i)
{
    const isa_instr *in = &s->b->ops[i].in;
    int more[2] = {0}, made[2] = {0};

    if (i == s->oldest || s->room == UINT32_MAX)
        return true;
    for (unsigned k = 0; k < ISA_MAX_DST; k++)
        if (vp_is_reg(in->dst[k]))
            made[in->dst[k].kind == ISA_V]++;
    for (int f = 0; f < 2; f++)
        more[f] = made[f];
    for (unsigned k = 0; k < ISA_MAX_SRC; k++)
        if (is_first(s, i, k) && ends_with(s, s->src[i * ISA_MAX_SRC + k], i))
            more[in->src[k].kind == ISA_V]--;
    for (int f = 0; f < 2; f++)
        if (made[f] &&
            (i > s->oldest + AHEAD ||
             s->highest[f][i] + (uint32_t)(more[f] > 0 ? more[f] : 0) >
                 s->room))
            return false;
    return true;
}

/* One reader of v, operation i, is taken to the front. */
static void read_early(sched *s, value *v, uint32_t i)
{
    uint32_t from = s->oldest;

    v->left--;
    if (v->last != i)
        return;
    while (v->n && s->issued[v->uses[v->n - 1]])
        v->n--;
    if (v->n) {
        v->last = v->uses[v->n - 1];
        from = v->last + 1;
    }
    for (uint32_t at = from; at <= i; at++)
        s->profile[v->file][at]--;
}

static void account(sched *s, uint32_t i)
{
    const isa_instr *in = &s->b->ops[i].in;

    if (s->room == UINT32_MAX)
        return;
    for (unsigned k = 0; k < ISA_MAX_DST && i != s->oldest; k++)
        for (uint32_t at = s->oldest; vp_is_reg(in->dst[k]) && at <= i; at++)
            s->profile[in->dst[k].kind == ISA_V][at]++;
    s->issued[i] = true;
    for (unsigned k = 0; k < ISA_MAX_SRC; k++)
        if (is_first(s, i, k))
            read_early(s, &s->values[s->src[i * ISA_MAX_SRC + k]], i);
    while (s->oldest < s->n && s->issued[s->oldest])
        s->oldest++;
    measure(s);
}

/* --- the loop ------------------------------------------------------------ */

/* Which of the operations that wait for no other goes first; program order
 * breaks ties. */
static bool before(const sched *s, uint32_t a, uint32_t b)
{
    return s->height[a] != s->height[b] ? s->height[a] > s->height[b] : a < b;
}

/* The one to take at t, as a place in `ready`. */
static uint32_t best_ready(const sched *s, uint32_t t)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t k = 0; k < s->n_ready; k++) {
        uint32_t i = s->ready[k];

        if (s->earliest[i] <= t && s->refused[i] != t + 1 &&
            (best == UINT32_MAX || before(s, i, s->ready[best])) && fits(s, i))
            best = k;
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

void schedule_block(const vprog *p, vp_block *b, const uint64_t *in,
                    const uint64_t *out, uint32_t room, arena *scratch)
{
    sched s = {.b = b, .n = (uint32_t)b->n_ops, .p = p, .room = room};
    uint32_t body = s.n - (vp_branch(b) ? 1 : 0), end = 0, done = 0;

    b->cycles = 0;
    if (!s.n)
        return;
    for (uint32_t i = 0; i < s.n; i++)
        b->ops[i].in.seq = i;
    s.body = body;
    s.issued = arena_array(scratch, bool, s.n + 1);
    s.refused = arena_array(scratch, uint32_t, s.n + 1);
    s.ready = arena_array(scratch, uint32_t, s.n + 1);
    prepare(&s, scratch);
    if (room != UINT32_MAX)
        start_pressure(&s, in, out, scratch);
    for (uint32_t i = 0; i < body; i++)
        if (!s.waiting[i])
            s.ready[s.n_ready++] = i;
    for (uint32_t t = 0; done < body; t++) {
        uint32_t k;

        while ((k = best_ready(&s, t)) != UINT32_MAX) {
            uint32_t i = s.ready[k], leave;

            if (!issue(&s, i, t)) {
                s.refused[i] = t + 1;
                continue;
            }
            s.ready[k] = s.ready[--s.n_ready];
            release(&s, i, t);
            account(&s, i);
            done++;
            leave = t + own_latency(&b->ops[i].in);
            if (leave > end)
                end = leave;
        }
    }
    if (body < s.n)
        end = place_branch(&s, body, end);
    b->cycles = end;
}
