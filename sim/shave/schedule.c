/* List scheduling: one bundle at a time, the longest path first, within the
 * registers there are. */
#include <stdlib.h>
#include <string.h>

#include "sim/ir/ir.h"
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
    /* Register pressure. */
    const vprog *p;
    const uint64_t *out;
    ir_map readers;    /* register -> reads left + 1 */
    ir_map holds;      /* register -> non-NULL once it is alive */
    uint32_t alive[2]; /* per file */
    uint32_t room;
    uint32_t oldest; /* first operation in program order not yet issued */
    bool *issued;
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

/* --- pressure
 * ---------------------------------------------------------------- */

static bool lives_out(const sched *s, isa_operand x)
{
    return s->out[x.n / 64] >> x.n % 64 & 1;
}

static uint32_t reads_left(const sched *s, isa_operand x)
{
    uintptr_t n = (uintptr_t)ir_map_get(&s->readers, vp_key(x));

    return n ? (uint32_t)n - 1 : 0;
}

static void set_reads(sched *s, isa_operand x, uint32_t n)
{
    ir_map_set(&s->readers, vp_key(x), (void *)((uintptr_t)n + 1));
}

static void start_pressure(sched *s, const uint64_t *in, arena *a)
{
    uint32_t words = (uint32_t)s->p->n_regs / 64 + 1;

    ir_map_init(&s->readers, a);
    ir_map_init(&s->holds, a);
    for (uint32_t i = 0; i < s->n; i++)
        for (unsigned k = 0; k < ISA_MAX_SRC; k++) {
            isa_operand x = s->b->ops[i].in.src[k];

            if (vp_is_reg(x))
                set_reads(s, x, reads_left(s, x) + 1);
        }
    for (uint32_t w = 0; w < words; w++)
        for (uint64_t bits = in[w]; bits; bits &= bits - 1) {
            uint32_t r = w * 64 + (uint32_t)__builtin_ctzll(bits);

            s->alive[s->p->classes[r] == ISA_V]++;
            ir_map_set(&s->holds, vp_key((isa_operand){ISA_I, r}), s);
        }
}

/* Registers more (or fewer) alive in each file once i has issued. */
static void change(const sched *s, uint32_t i, int delta[2])
{
    const isa_instr *in = &s->b->ops[i].in;

    delta[0] = delta[1] = 0;
    for (unsigned k = 0; k < ISA_MAX_DST; k++)
        if (vp_is_reg(in->dst[k]) && !ir_map_get(&s->holds, vp_key(in->dst[k])))
            delta[in->dst[k].kind == ISA_V]++;
    for (unsigned k = 0; k < ISA_MAX_SRC; k++) {
        isa_operand x = in->src[k];
        uint32_t here = 0;
        bool first = true;

        if (!vp_is_reg(x) || lives_out(s, x))
            continue;
        for (unsigned j = 0; j < ISA_MAX_SRC; j++)
            if (vp_same(in->src[j], x)) {
                first &= j >= k;
                here++;
            }
        if (first && reads_left(s, x) == here)
            delta[x.kind == ISA_V]--;
    }
}

static bool fits(const sched *s, uint32_t i)
{
    int delta[2];

    if (i == s->oldest)
        return true;
    change(s, i, delta);
    for (int f = 0; f < 2; f++)
        if (delta[f] > 0 && s->alive[f] + (uint32_t)delta[f] > s->room)
            return false;
    return true;
}

static void account(sched *s, uint32_t i)
{
    int delta[2];

    change(s, i, delta);
    for (int f = 0; f < 2; f++)
        s->alive[f] = (int)s->alive[f] + delta[f] < 0
                          ? 0
                          : s->alive[f] + (uint32_t)delta[f];
    for (unsigned k = 0; k < ISA_MAX_SRC; k++) {
        isa_operand x = s->b->ops[i].in.src[k];

        if (!vp_is_reg(x))
            continue;
        set_reads(s, x, reads_left(s, x) - 1);
        if (!reads_left(s, x) && !lives_out(s, x))
            ir_map_set(&s->holds, vp_key(x), NULL);
    }
    for (unsigned k = 0; k < ISA_MAX_DST; k++)
        if (vp_is_reg(s->b->ops[i].in.dst[k]))
            ir_map_set(&s->holds, vp_key(s->b->ops[i].in.dst[k]), s);
    s->issued[i] = true;
    while (s->oldest < s->n && s->issued[s->oldest])
        s->oldest++;
}

/* --- the loop
 * ---------------------------------------------------------------- */

/* The ready operation to take; program order breaks ties. */
static uint32_t best_ready(const sched *s, const uint32_t *pending,
                           uint32_t n_pending, uint32_t t, const bool *refused)
{
    uint32_t best = UINT32_MAX;

    for (uint32_t k = 0; k < n_pending; k++) {
        uint32_t i = pending[k];

        if (s->waiting[i] || s->earliest[i] > t || refused[i])
            continue;
        if ((best == UINT32_MAX || s->height[i] > s->height[best]) &&
            fits(s, i))
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

void schedule_block(const vprog *p, vblock *b, const uint64_t *in,
                    const uint64_t *out, uint32_t room, arena *scratch)
{
    sched s = {.b = b, .n = (uint32_t)b->n, .p = p, .out = out, .room = room};
    uint32_t *pending = arena_array(scratch, uint32_t, s.n + 1), n_pending = 0;
    bool *refused = arena_array(scratch, bool, s.n + 1);
    uint32_t body = s.n - (vp_branch(b) ? 1 : 0), end = 0, done = 0;

    b->cycles = 0;
    if (!s.n)
        return;
    for (uint32_t i = 0; i < s.n; i++)
        b->ops[i].in.seq = i;
    s.issued = arena_array(scratch, bool, s.n + 1);
    prepare(&s, scratch);
    start_pressure(&s, in, scratch);
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
            account(&s, i);
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
