/* Phis out, copies in. Every phi gets a register of its own that its
 * predecessors copy into and its block copies out of; then copies whose ends
 * never live at the same time with different values become one register. */
#include <string.h>

#include "sim/shave/passes.h"

typedef struct {
    isa_operand dst, src;
    bool back; /* on a branch back: the loop pays for it each time */
} copy;

typedef struct {
    copy *list;
    size_t n, cap;
} copies;

typedef struct {
    vprog *p;
    arena *a;
    copies *at_start, *at_end; /* per block, each a parallel copy */
    uint32_t *candidate;       /* register -> candidate number + 1 */
    uint32_t n;                /* candidates */
    uint32_t *regs;            /* candidate -> register */
    uint32_t *parent;          /* classes, by candidate */
    uint64_t **adj;            /* interference, by class */
    uint32_t words;
} web;

static void note(web *w, isa_operand x)
{
    if (vp_is_reg(x) && !w->candidate[x.number]) {
        w->regs[w->n] = x.number;
        w->candidate[x.number] = ++w->n;
    }
}

static void make_copies(web *w)
{
    vprog *p = w->p;

    for (size_t b = 0; b < p->n_blocks; b++)
        for (size_t i = 0; i < p->blocks[b].n_phis; i++) {
            vp_phi *f = &p->blocks[b].phis[i];
            isa_operand own = vp_reg(p, f->dst.kind);
            copies *c = &w->at_start[b];

            *arena_append(w->a, c->list, c->n, c->cap) =
                (copy){f->dst, own, false};
            for (uint32_t k = 0; k < f->n_from; k++) {
                c = &w->at_end[f->from[k]];
                *arena_append(w->a, c->list, c->n, c->cap) =
                    (copy){own, f->src[k], f->from[k] >= b};
            }
        }
    for (size_t b = 0; b < p->n_blocks; b++)
        p->blocks[b].n_phis = 0;
}

/* Copies as operations, for liveness: order inside a group does not matter
 * there, as no group reads what it writes. */
static void put_copy(vprog *p, vp_block *b, size_t at, isa_operand dst,
                     isa_operand src)
{
    vp_op *o = vp_add(p, b, dst.kind == ISA_V ? ISA_OP_vmov : ISA_OP_imov),
          made;

    o->in.dst[0] = dst;
    o->in.src[0] = src;
    made = *o;
    memmove(&b->ops[at + 1], &b->ops[at], (b->n_ops - 1 - at) * sizeof *b->ops);
    b->ops[at] = made;
}

/* --- interference -------------------------------------------------------- */

static void interfere(web *w, uint32_t a, uint32_t b)
{
    if (a != b) {
        w->adj[a][b / 64] |= UINT64_C(1) << b % 64;
        w->adj[b][a / 64] |= UINT64_C(1) << a % 64;
    }
}

/* x is written where `live` lives afterwards; `same` holds the same value. */
static void defined(web *w, const uint64_t *live, isa_operand x,
                    isa_operand same)
{
    uint32_t c;

    if (!vp_is_reg(x) || !(c = w->candidate[x.number]))
        return;
    c--;
    for (uint32_t q = 0; q < w->words; q++)
        for (uint64_t bits = live[q]; bits; bits &= bits - 1) {
            uint32_t o = q * 64 + (uint32_t)__builtin_ctzll(bits);

            if (vp_is_reg(same) && w->candidate[same.number] == o + 1)
                continue;
            interfere(w, c, o);
        }
}

static void live_set(const web *w, uint64_t *live, isa_operand x, bool on)
{
    uint32_t c;

    if (!vp_is_reg(x) || !(c = w->candidate[x.number]))
        return;
    c--;
    if (on)
        live[c / 64] |= UINT64_C(1) << c % 64;
    else
        live[c / 64] &= ~(UINT64_C(1) << c % 64);
}

/* Targets of one source hold the same value: what goes around a loop and what
 * leaves it can be one register. */
static void copied(web *w, const uint64_t *live, const copies *c, size_t i)
{
    uint64_t *others = arena_memdup(w->a, live, w->words * sizeof *live);

    for (size_t k = 0; k < c->n; k++)
        if (vp_same(c->list[k].src, c->list[i].src))
            live_set(w, others, c->list[k].dst, false);
    defined(w, others, c->list[i].dst, c->list[i].src);
}

static void group(web *w, uint64_t *live, const copies *c)
{
    for (size_t i = 0; i < c->n; i++)
        copied(w, live, c, i);
    for (size_t i = 0; i < c->n; i++)
        live_set(w, live, c->list[i].dst, false);
    for (size_t i = 0; i < c->n; i++)
        live_set(w, live, c->list[i].src, true);
}

static void one_op(web *w, uint64_t *live, const isa_instr *in)
{
    for (unsigned k = 0; k < ISA_MAX_DST; k++) {
        defined(w, live, in->dst[k], (isa_operand){0});
        live_set(w, live, in->dst[k], false);
    }
    /* Two results of one operation are written by one operation. */
    if (vp_is_reg(in->dst[0]) && vp_is_reg(in->dst[1]) &&
        w->candidate[in->dst[0].number] && w->candidate[in->dst[1].number])
        interfere(w, w->candidate[in->dst[0].number] - 1,
                  w->candidate[in->dst[1].number] - 1);
    for (unsigned k = 0; k < ISA_MAX_SRC; k++)
        live_set(w, live, in->src[k], true);
}

static void interferences(web *w, const liveness *l)
{
    for (size_t b = 0; b < w->p->n_blocks; b++) {
        vp_block *x = &w->p->blocks[b];
        uint64_t *live = arena_array(w->a, uint64_t, w->words);
        size_t i = x->n_ops;

        for (uint32_t c = 0; c < w->n; c++)
            if (l->out[b][w->regs[c] / 64] >> w->regs[c] % 64 & 1)
                live[c / 64] |= UINT64_C(1) << c % 64;
        if (vp_branch(x))
            one_op(w, live, &x->ops[--i].in);
        group(w, live, &w->at_end[b]);
        while (i-- > 0)
            one_op(w, live, &x->ops[i].in);
        group(w, live, &w->at_start[b]);
    }
}

/* Liveness with the copies in place, then without them again. */
static void measure(web *w, liveness *l)
{
    vprog with = *w->p;

    with.arena = w->a;
    with.blocks =
        arena_memdup(w->a, w->p->blocks, w->p->n_blocks * sizeof *with.blocks);
    for (size_t b = 0; b < with.n_blocks; b++) {
        vp_block *x = &with.blocks[b];
        const copies *c = &w->at_end[b];

        x->ops = arena_memdup(w->a, x->ops, x->n_ops * sizeof *x->ops);
        x->ops_cap = x->n_ops;
        for (size_t i = 0; i < c->n; i++)
            put_copy(&with, x, vp_branch(x) ? x->n_ops - 1 : x->n_ops,
                     c->list[i].dst, c->list[i].src);
        c = &w->at_start[b];
        for (size_t i = 0; i < c->n; i++)
            put_copy(&with, x, 0, c->list[i].dst, c->list[i].src);
    }
    liveness_compute(&with, w->a, l);
}

/* --- coalescing ---------------------------------------------------------- */

static uint32_t find(web *w, uint32_t c)
{
    while (w->parent[c] != c)
        c = w->parent[c] = w->parent[w->parent[c]];
    return c;
}

static bool conflict(const web *w, uint32_t a, uint32_t b)
{
    return w->adj[a][b / 64] >> b % 64 & 1;
}

static void try_unite(web *w, const copy *c)
{
    uint32_t a, b;

    if (!vp_is_reg(c->src))
        return;
    a = find(w, w->candidate[c->dst.number] - 1);
    b = find(w, w->candidate[c->src.number] - 1);
    if (a == b || conflict(w, a, b))
        return;
    w->parent[b] = a;
    /* Rows are kept by class: whoever met b now meets a. */
    for (uint32_t o = 0; o < w->n; o++)
        if (conflict(w, b, o))
            interfere(w, a, o);
}

static void coalesce(web *w)
{
    for (int round = 0; round < 3; round++)
        for (size_t b = 0; b < w->p->n_blocks; b++) {
            const copies *c = round == 1 ? &w->at_start[b] : &w->at_end[b];

            for (size_t i = 0; i < c->n; i++)
                if (round == 1 || c->list[i].back == (round == 0))
                    try_unite(w, &c->list[i]);
        }
}

/* --- writing it down ----------------------------------------------------- */

static isa_operand renamed(web *w, isa_operand x)
{
    if (vp_is_reg(x) && w->candidate[x.number])
        x.number = w->regs[find(w, w->candidate[x.number] - 1)];
    return x;
}

static bool is_source(const copy *list, size_t n, isa_operand x)
{
    for (size_t i = 0; i < n; i++)
        if (vp_same(list[i].src, x))
            return true;
    return false;
}

static bool is_target(const copy *list, size_t n, isa_operand x)
{
    for (size_t i = 0; i < n; i++)
        if (vp_same(list[i].dst, x))
            return true;
    return false;
}

/* A parallel copy as single ones: first those whose target nobody reads any
 * more; a cycle is broken with one more register. */
static void sequence(web *w, vp_block *b, size_t at, const copies *group)
{
    copy *todo = arena_array(w->a, copy, group->n + 1);
    size_t n = 0;

    for (size_t i = 0; i < group->n; i++) {
        copy c = {renamed(w, group->list[i].dst),
                  renamed(w, group->list[i].src), false};

        if (!vp_same(c.dst, c.src) && !is_target(todo, n, c.dst))
            todo[n++] = c;
    }
    while (n) {
        size_t i = 0;

        while (i < n && is_source(todo, n, todo[i].dst))
            i++;
        if (i == n) { /* all in cycles: free the first target */
            isa_operand spare = vp_reg(w->p, todo[0].dst.kind);

            put_copy(w->p, b, at++, spare, todo[0].dst);
            for (size_t k = 0; k < n; k++)
                if (vp_same(todo[k].src, todo[0].dst))
                    todo[k].src = spare;
            i = 0;
        }
        put_copy(w->p, b, at++, todo[i].dst, todo[i].src);
        todo[i] = todo[--n];
    }
}

static void rewrite(web *w)
{
    for (size_t b = 0; b < w->p->n_blocks; b++) {
        vp_block *x = &w->p->blocks[b];

        for (size_t i = 0; i < x->n_ops; i++) {
            isa_instr *in = &x->ops[i].in;

            for (unsigned k = 0; k < ISA_MAX_SRC; k++)
                in->src[k] = renamed(w, in->src[k]);
            for (unsigned k = 0; k < ISA_MAX_DST; k++)
                in->dst[k] = renamed(w, in->dst[k]);
        }
        sequence(w, x, vp_branch(x) ? x->n_ops - 1 : x->n_ops, &w->at_end[b]);
        sequence(w, x, 0, &w->at_start[b]);
    }
}

void phis_remove(vprog *p)
{
    arena *a = arena_create(0);
    web w = {.p = p, .a = a};
    liveness l;

    w.at_start = arena_array(a, copies, p->n_blocks);
    w.at_end = arena_array(a, copies, p->n_blocks);
    make_copies(&w);
    w.candidate = arena_array(a, uint32_t, p->n_regs + 1);
    w.regs = arena_array(a, uint32_t, p->n_regs + 1);
    for (size_t b = 0; b < p->n_blocks; b++) {
        for (size_t i = 0; i < w.at_start[b].n; i++) {
            note(&w, w.at_start[b].list[i].dst);
            note(&w, w.at_start[b].list[i].src);
        }
        for (size_t i = 0; i < w.at_end[b].n; i++) {
            note(&w, w.at_end[b].list[i].dst);
            note(&w, w.at_end[b].list[i].src);
        }
    }
    w.words = w.n / 64 + 1;
    w.adj = arena_array(a, uint64_t *, w.n + 1);
    w.parent = arena_array(a, uint32_t, w.n + 1);
    for (uint32_t c = 0; c < w.n; c++) {
        w.adj[c] = arena_array(a, uint64_t, w.words);
        w.parent[c] = c;
    }
    measure(&w, &l);
    interferences(&w, &l);
    coalesce(&w);
    rewrite(&w);
    arena_destroy(a);
}
