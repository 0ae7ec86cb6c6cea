/* Loops are the natural ones of the program's blocks. Inside one, a register
 * whose only definition adds to it what the loop does not change is an
 * induction; an address walks when it is a sum in which one takes part. */
#include "runtime/lint/walks.h"

enum {
    N_REGS = ISA_N_IREGS,
    MAX_SUCCS = 3,
    /* Values looked at for one address: sums that meet again would otherwise be
     * followed by every way there is. */
    MAX_VALUES = 64
};

#define NO_BLOCK UINT32_MAX

/* A definition of an I register in a loop. */
typedef struct {
    const isa_instr *in;
    uint32_t block, which; /* which of its results */
} definition;

typedef struct {
    uint32_t header, n_blocks;
    bool *has; /* by block */
    uint32_t n_defs[N_REGS];
    definition def[N_REGS]; /* the last seen */
} loop;

typedef struct {
    uint32_t n, to[MAX_SUCCS];
} exits;

struct lint_walks {
    const isa_function *f;
    exits *exits;        /* by block */
    uint32_t *dominator; /* the immediate one; NO_BLOCK: never reached */
    uint32_t *number;    /* in reverse post-order, from the entry up */
    const loop **inner;  /* by block; NULL: in none */
};

/* --- the graph of blocks ------------------------------------------------- */

static bool is_repeated(const isa_function *f, uint32_t b)
{
    const isa_block *before = b ? &f->blocks[b - 1] : NULL;

    for (uint32_t i = 0; before && i < before->n_instrs; i++)
        if (f->instrs[before->first + i].op == ISA_OP_rep)
            return true;
    return false;
}

static exits exits_of(const isa_function *f, uint32_t b)
{
    const isa_block *x = &f->blocks[b];
    bool falls = b + 1 < f->n_blocks;
    exits e = {0};

    for (uint32_t i = x->first; i < x->first + x->n_instrs; i++) {
        const isa_instr *in = &f->instrs[i];

        /* A block has one branch at most. */
        if ((isa_ops[in->op].flags & ISA_F_TARGET) && in->imm >= 0 &&
            (uint32_t)in->imm < f->n_blocks && !e.n)
            e.to[e.n++] = (uint32_t)in->imm;
        falls &= in->op != ISA_OP_bra && in->op != ISA_OP_ret;
    }
    if (is_repeated(f, b))
        e.to[e.n++] = b;
    if (falls)
        e.to[e.n++] = b + 1;
    return e;
}

/* Blocks in post-order, without recursion: programs may be long. */
static uint32_t post_order(const lint_walks *w, arena *a, uint32_t *order)
{
    uint32_t n_blocks = w->f->n_blocks, depth = 0, n = 0;
    uint32_t *stack = arena_array(a, uint32_t, n_blocks);
    uint32_t *next = arena_array(a, uint32_t, n_blocks);
    bool *seen = arena_array(a, bool, n_blocks);

    stack[depth++] = 0;
    seen[0] = true;
    while (depth) {
        uint32_t b = stack[depth - 1], to;

        if (next[b] == w->exits[b].n) {
            order[n++] = b;
            depth--;
            continue;
        }
        to = w->exits[b].to[next[b]++];
        if (!seen[to]) {
            seen[to] = true;
            stack[depth++] = to;
        }
    }
    return n;
}

static uint32_t meet(const lint_walks *w, uint32_t x, uint32_t y)
{
    while (x != y) {
        while (w->number[x] > w->number[y])
            x = w->dominator[x];
        while (w->number[y] > w->number[x])
            y = w->dominator[y];
    }
    return x;
}

static void find_dominators(lint_walks *w, const uint32_t *order, uint32_t n)
{
    for (uint32_t b = 0; b < w->f->n_blocks; b++)
        w->dominator[b] = NO_BLOCK;
    for (uint32_t i = 0; i < n; i++)
        w->number[order[i]] = n - 1 - i;
    if (n)
        w->dominator[0] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = n; i-- > 0;) {
            const exits *e = &w->exits[order[i]];

            for (uint32_t j = 0; j < e->n; j++) {
                uint32_t *d = &w->dominator[e->to[j]];
                uint32_t by = *d == NO_BLOCK ? order[i] : meet(w, *d, order[i]);

                changed |= *d != by;
                *d = by;
            }
        }
    }
}

static bool dominates(const lint_walks *w, uint32_t x, uint32_t y)
{
    while (w->number[y] > w->number[x])
        y = w->dominator[y];
    return x == y;
}

/* --- loops --------------------------------------------------------------- */

static bool leads_to(const lint_walks *w, uint32_t b, uint32_t to)
{
    for (uint32_t j = 0; j < w->exits[b].n; j++)
        if (w->exits[b].to[j] == to)
            return true;
    return false;
}

/* Takes blocks in that lead to one of the loop's, until there is none. */
static void flood(const lint_walks *w, const uint32_t *order, uint32_t n,
                  loop *l)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < n; i++) {
            const exits *e = &w->exits[order[i]];

            for (uint32_t j = 0; j < e->n && !l->has[order[i]]; j++)
                if (l->has[e->to[j]] && e->to[j] != l->header &&
                    dominates(w, l->header, order[i])) {
                    l->has[order[i]] = changed = true;
                    l->n_blocks++;
                }
        }
    }
}

static void find_definitions(const isa_function *f, loop *l)
{
    for (uint32_t b = 0; b < f->n_blocks; b++) {
        const isa_block *x = &f->blocks[b];

        for (uint32_t i = x->first; l->has[b] && i < x->first + x->n_instrs;
             i++)
            for (uint32_t k = 0; k < ISA_MAX_DST; k++) {
                isa_operand d = f->instrs[i].dst[k];

                if (d.kind != ISA_I || d.number >= N_REGS)
                    continue;
                l->n_defs[d.number]++;
                l->def[d.number] = (definition){&f->instrs[i], b, k};
            }
    }
}

/* A new loop of this header with what leads back to it; NULL: nothing does. */
static loop *ways_back(const lint_walks *w, const uint32_t *order, uint32_t n,
                       uint32_t header, arena *a)
{
    loop *l = NULL;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t b = order[i];

        if (!leads_to(w, b, header) || !dominates(w, header, b))
            continue;
        if (!l) {
            l = arena_new(a, loop);
            *l = (loop){.header = header,
                        .n_blocks = 1,
                        .has = arena_array(a, bool, w->f->n_blocks)};
            l->has[header] = true;
        }
        l->n_blocks += !l->has[b];
        l->has[b] = true;
    }
    return l;
}

lint_walks *lint_walks_find(const isa_function *f, arena *a)
{
    lint_walks *w = arena_new(a, lint_walks);
    uint32_t *order, n;

    w->f = f;
    w->exits = arena_array(a, exits, f->n_blocks);
    w->dominator = arena_array(a, uint32_t, f->n_blocks);
    w->number = arena_array(a, uint32_t, f->n_blocks);
    w->inner = arena_array(a, const loop *, f->n_blocks);
    order = arena_array(a, uint32_t, f->n_blocks);
    for (uint32_t b = 0; b < f->n_blocks; b++)
        w->exits[b] = exits_of(f, b);
    n = f->n_blocks ? post_order(w, a, order) : 0;
    find_dominators(w, order, n);
    for (uint32_t i = 0; i < n; i++) {
        loop *l = ways_back(w, order, n, order[i], a);

        if (!l)
            continue;
        flood(w, order, n, l);
        find_definitions(f, l);
        for (uint32_t b = 0; b < f->n_blocks; b++)
            if (l->has[b] &&
                (!w->inner[b] || l->n_blocks < w->inner[b]->n_blocks))
                w->inner[b] = l;
    }
    return w;
}

/* --- values -------------------------------------------------------------- */

typedef enum { UNKNOWN, INVARIANT, WALKING } value;

/* Where a register is read. */
typedef struct {
    const lint_walks *w;
    const loop *l;
    uint32_t block;
    const isa_instr *in;
    unsigned *left; /* of MAX_VALUES */
} place;

/* Cycles from the start of its iteration: the stages of a pipelined loop lie
 * side by side in one block. */
static int64_t time_of(const isa_block *x, const isa_instr *in)
{
    return (int64_t)in->stage * x->cycles + in->cycle;
}

/* The definition in the place's own block that a read of register r sees there;
 * in NULL: what r holds as the block begins. */
static definition reaching(const place *p, uint32_t r)
{
    const isa_block *x = &p->w->f->blocks[p->block];
    int64_t now = time_of(x, p->in), best = INT64_MIN;
    definition found = {0};

    for (uint32_t i = x->first; i < x->first + x->n_instrs; i++) {
        const isa_instr *in = &p->w->f->instrs[i];

        for (uint32_t k = 0; k < ISA_MAX_DST; k++) {
            int64_t lands = time_of(x, in) + (k ? 1 : isa_ops[in->op].lat);

            if (in->dst[k].kind != ISA_I || in->dst[k].number != r)
                continue;
            if (x->kind == ISA_KERNEL && x->cycles) {
                int64_t behind = (now - lands) % x->cycles;

                lands = now - (behind < 0 ? behind + x->cycles : behind);
            }
            if (lands <= now && lands > best) {
                best = lands;
                found = (definition){in, p->block, k};
            }
        }
    }
    return found;
}

static bool steps_address(const isa_instr *in)
{
    switch (in->op) {
    case ISA_OP_ldp:
    case ISA_OP_ldv64p:
    case ISA_OP_ldv128p:
    case ISA_OP_stp:
    case ISA_OP_stv64p:
    case ISA_OP_stv128p:
        return true;
    default:
        return false;
    }
}

static bool is_store(const isa_instr *in)
{
    return isa_ops[in->op].flags & ISA_F_STORE;
}

static isa_operand address(const isa_instr *in)
{
    return in->src[is_store(in) ? 1 : 0];
}

/* Is what d gives its two sources' sum or difference? */
static bool is_sum(const definition *d, isa_operand *a, isa_operand *b)
{
    const isa_instr *in = d->in;

    if (in->op == ISA_OP_iadd || in->op == ISA_OP_isub) {
        *a = in->src[0];
        *b = in->src[1];
        return true;
    }
    if (steps_address(in) && d->which == (is_store(in) ? 0 : 1)) {
        *a = address(in);
        *b = in->src[is_store(in) ? 2 : 1];
        return true;
    }
    return false;
}

static place at(const place *p, const definition *d)
{
    return (place){p->w, p->l, d->block, d->in, p->left};
}

/* What x is made of where it is read: nothing in .in when the loop leaves it
 * alone, or when the program does not show it. */
static definition made_by(const place *p, isa_operand x)
{
    definition d = {0};

    if (x.kind != ISA_I || x.number >= N_REGS || !*p->left)
        return d;
    --*p->left;
    d = reaching(p, x.number);
    if (!d.in && p->l->n_defs[x.number] == 1 &&
        p->l->def[x.number].block != p->block &&
        dominates(p->w, p->l->def[x.number].block, p->block))
        d = p->l->def[x.number];
    return d.in && d.in->predicated ? (definition){0} : d;
}

static bool is_outside(const place *p, isa_operand x)
{
    return x.kind == ISA_IMM || x.kind == ISA_SP ||
           (x.kind == ISA_I && x.number < N_REGS && !p->l->n_defs[x.number]);
}

/* The same in each iteration, be it computed again. */
static bool is_invariant(const place *p, isa_operand x)
{
    definition d;
    place there;

    if (is_outside(p, x))
        return true;
    d = made_by(p, x);
    if (!d.in)
        return false;
    there = at(p, &d);
    switch (d.in->op) {
    case ISA_OP_imov:
        return is_invariant(&there, d.in->src[0]);
    case ISA_OP_iadd:
    case ISA_OP_isub:
    case ISA_OP_ishl:
    case ISA_OP_imul:
        return is_invariant(&there, d.in->src[0]) &&
               is_invariant(&there, d.in->src[1]);
    default:
        return false;
    }
}

static bool is_zero(isa_operand x)
{
    return x.kind == ISA_IMM && !x.number;
}

/* Is what d gives register r of the iteration's start, and steps? */
static bool is_stepped(const place *p, const definition *d, uint32_t r,
                       unsigned steps);

static bool is_start(const place *p, isa_operand x, uint32_t r, unsigned steps)
{
    definition d;

    if (x.kind == ISA_I && x.number == r)
        return steps;
    d = made_by(p, x);
    return d.in && is_stepped(p, &d, r, steps);
}

static bool is_stepped(const place *p, const definition *d, uint32_t r,
                       unsigned steps)
{
    place there = at(p, d);
    isa_operand a, b;

    if (d->in->op == ISA_OP_imov)
        return is_start(&there, d->in->src[0], r, steps);
    if (!is_sum(d, &a, &b) || is_zero(b))
        return false;
    if (is_invariant(&there, b))
        return is_start(&there, a, r, steps + 1);
    return d->in->op == ISA_OP_iadd && is_invariant(&there, a) &&
           is_start(&there, b, r, steps + 1);
}

/* Once in each iteration: in front of every way back, and in no loop inside. */
static bool is_always(const place *p, uint32_t block)
{
    if (p->w->inner[block] != p->l)
        return false;
    for (uint32_t b = 0; b < p->w->f->n_blocks; b++)
        if (p->l->has[b] && leads_to(p->w, b, p->l->header) &&
            !dominates(p->w, block, b))
            return false;
    return true;
}

static bool is_induction(const place *p, isa_operand x)
{
    const definition *d;

    if (x.kind != ISA_I || x.number >= N_REGS || p->l->n_defs[x.number] != 1)
        return false;
    d = &p->l->def[x.number];
    return !d->in->predicated && is_always(p, d->block) &&
           is_stepped(p, d, x.number, 0);
}

static value value_of(const place *p, isa_operand x);

static value of_both(const place *p, const definition *d, isa_operand a,
                     isa_operand b)
{
    value u = value_of(p, a), v = u ? value_of(p, b) : UNKNOWN;

    /* Shifted by what walks, or its square: no step is like the last. */
    if (v == WALKING && (d->in->op == ISA_OP_ishl ||
                         (d->in->op == ISA_OP_imul && u == WALKING)))
        return UNKNOWN;
    return v && u > v ? u : v;
}

static value value_of(const place *p, isa_operand x)
{
    isa_operand a, b;
    definition d;
    place there;

    if (is_outside(p, x))
        return INVARIANT;
    if (is_induction(p, x))
        return WALKING;
    d = made_by(p, x);
    if (!d.in)
        return UNKNOWN;
    there = at(p, &d);
    if (d.in->op == ISA_OP_imov)
        return value_of(&there, d.in->src[0]);
    if (d.in->op == ISA_OP_ishl || d.in->op == ISA_OP_imul)
        return of_both(&there, &d, d.in->src[0], d.in->src[1]);
    return is_sum(&d, &a, &b) ? of_both(&there, &d, a, b) : UNKNOWN;
}

bool lint_walks_access(const lint_walks *w, uint32_t b, const isa_instr *access)
{
    unsigned left = MAX_VALUES;
    const place p = {w, w->inner[b], b, access, &left};

    return p.l && value_of(&p, address(access)) == WALKING;
}
