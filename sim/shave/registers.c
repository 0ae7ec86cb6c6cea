/* Register allocation on a schedule: every virtual register holds its machine
 * register from the issue of what writes it to its last reader, block by block,
 * with holes where it is not live. What does not fit is spilled: kept in
 * private memory, or made anew where that takes no register. */
#include <stdlib.h>
#include <string.h>

#include "sim/shave/passes.h"

typedef struct {
    uint32_t from, to; /* cycles of the whole program, to exclusive */
} range;

/* Where a value of a software-pipelined loop is, in cycles modulo the interval:
 * from landing to last read, again and again while the loop runs. */
typedef struct {
    uint32_t interval; /* 0 = there is no such place */
    uint32_t from, length;
    range loop; /* prologue to epilogue */
} arc;

typedef struct {
    range *list; /* ascending, apart */
    uint32_t n, cap;
    arc arc;
    uint64_t weight; /* what spilling costs; UINT64_MAX = must not */
    uint32_t defs;
    const vp_op *def; /* the only one, when defs is 1 */
    int32_t reg;      /* machine register, -1 = none yet */
    bool spilled;
} life;

typedef struct {
    uint32_t *members; /* virtual registers */
    size_t n, cap;
} occupants;

typedef struct {
    vprog *p;
    arena *a;
    life *lives;
    uint32_t *base;         /* first cycle of each block */
    uint32_t *first, *last; /* per register, in the block being looked at:
                               first cycle + 1, last cycle; 0 = not there */
    occupants files[2][ISA_N_IREGS];
    liveness live;
    uint32_t **users, *n_users; /* of spilled values, see find_users */
    uint32_t spare;             /* machine registers of each file left alone */
    bool any_spilled;
} alloc;

/* --- lives --------------------------------------------------------------- */

static void extend(alloc *s, life *l, uint32_t from, uint32_t to)
{
    size_t n = l->n, cap = l->cap;

    if (to <= from)
        to = from + 1;
    if (l->n && l->list[l->n - 1].to >= from) {
        if (to > l->list[l->n - 1].to)
            l->list[l->n - 1].to = to;
        return;
    }
    *arena_append(s->a, l->list, n, cap) = (range){from, to};
    l->n = (uint32_t)n;
    l->cap = (uint32_t)cap;
}

/* Ranges of one block. Operations are in program order, and a register written
 * several times in a block is one life from first to last. */
static void block_lives(alloc *s, uint32_t b, const liveness *live,
                        uint32_t depth)
{
    const vp_block *x = &s->p->blocks[b];
    uint32_t start = s->base[b], end = s->base[b + 1];
    uint64_t worth = 1;
    uint32_t *first = s->first, *last = s->last, n_seen = 0;
    uint32_t *seen = arena_array(s->a, uint32_t, x->n_ops * 5 + 1);

    for (uint32_t d = 0; d < depth && d < 8; d++)
        worth *= 10;
    for (size_t i = 0; i < x->n_ops; i++) {
        const isa_instr *in = &x->ops[i].in;
        uint32_t at = start + in->cycle;

        for (unsigned k = 0; k < ISA_MAX_SRC + ISA_MAX_DST; k++) {
            bool is_src = k < ISA_MAX_SRC;
            isa_operand o = is_src ? in->src[k] : in->dst[k - ISA_MAX_SRC];
            uint32_t until = at;
            life *l;

            if (!vp_is_reg(o))
                continue;
            l = &s->lives[o.number];
            if (!first[o.number]) {
                seen[n_seen++] = o.number;
                first[o.number] = at + 1;
                last[o.number] = at;
            }
            if (!is_src) {
                until = at + deps_latency(in, k - ISA_MAX_SRC);
                l->def = &x->ops[i];
                l->defs++;
            }
            if (at + 1 < first[o.number])
                first[o.number] = at + 1;
            if (until > last[o.number])
                last[o.number] = until;
            l->weight += worth;
        }
    }
    /* In a pipelined loop iterations overlap: what it touches is taken from
     * end to end, but for what each iteration makes for itself. */
    for (uint32_t i = 0; i < n_seen && x->fixed; i++) {
        if (s->lives[seen[i]].arc.interval) {
            first[seen[i]] = 0;
            continue;
        }
        first[seen[i]] = start + 1;
        last[seen[i]] = end;
    }
    for (uint32_t q = 0; q < live->words; q++) {
        uint64_t through = live->in[b][q] | live->out[b][q];

        for (; through; through &= through - 1) {
            uint32_t r = q * 64 + (uint32_t)__builtin_ctzll(through);
            bool in = live->in[b][q] >> r % 64 & 1;
            bool out = live->out[b][q] >> r % 64 & 1;
            uint32_t from, to;

            if (x->fixed && s->lives[r].arc.interval)
                continue;
            from = in || !first[r] ? start : first[r] - 1;
            to = out ? end : last[r];
            extend(s, &s->lives[r], from, to);
            first[r] = 0; /* done */
        }
    }
    for (uint32_t i = 0; i < n_seen; i++) {
        if (first[seen[i]])
            extend(s, &s->lives[seen[i]], first[seen[i]] - 1, last[seen[i]]);
        first[seen[i]] = 0;
    }
}

/* Values that neither come into the loop nor leave it. */
static void kernel_arcs(alloc *s, uint32_t b, const liveness *live)
{
    const vp_block *x = &s->p->blocks[b];
    uint32_t ii = x->cycles;
    range loop = {s->base[b - 1], s->base[b + 2]};

    for (size_t d = 0; d < x->n_ops; d++) {
        const isa_instr *def = &x->ops[d].in;

        for (unsigned k = 0; k < ISA_MAX_DST; k++) {
            isa_operand r = def->dst[k];
            uint32_t land, last;

            if (!vp_is_reg(r) ||
                live->in[b - 1][r.number / 64] >> r.number % 64 & 1 ||
                live->out[b + 1][r.number / 64] >> r.number % 64 & 1)
                continue;
            land = def->stage * ii + def->cycle + deps_latency(def, k);
            last = land;
            for (size_t u = 0; u < x->n_ops; u++)
                for (unsigned j = 0; j < ISA_MAX_SRC; j++) {
                    const isa_instr *use = &x->ops[u].in;
                    uint32_t at = use->stage * ii + use->cycle;

                    if (vp_same(use->src[j], r) && at > last)
                        last = at;
                }
            s->lives[r.number].arc =
                (arc){ii, land % ii, last - land + 1, loop};
        }
    }
}

/* What spilling costs for each cycle it gives: long lives with few uses go
 * first. */
static void weigh(life *l)
{
    uint64_t cycles = 0;

    for (uint32_t i = 0; i < l->n; i++)
        cycles += l->list[i].to - l->list[i].from;
    l->weight = l->weight * 4096 / (cycles + 1) + 1;
}

static void find_lives(alloc *s)
{
    vprog *p = s->p;
    uint32_t *depth = liveness_loop_depths(p, s->a);

    s->lives = arena_array(s->a, life, p->n_regs + 1);
    s->base = arena_array(s->a, uint32_t, p->n_blocks + 1);
    s->first = arena_array(s->a, uint32_t, p->n_regs + 1);
    s->last = arena_array(s->a, uint32_t, p->n_regs + 1);
    for (size_t r = 0; r < p->n_regs; r++)
        s->lives[r].reg = -1;
    for (size_t b = 0; b < p->n_blocks; b++)
        s->base[b + 1] =
            s->base[b] + (p->blocks[b].cycles ? p->blocks[b].cycles : 1);
    liveness_compute(p, s->a, &s->live);
    for (uint32_t b = 0; b < p->n_blocks; b++)
        if (p->blocks[b].kind == ISA_KERNEL)
            kernel_arcs(s, b, &s->live);
    for (uint32_t b = 0; b < p->n_blocks; b++)
        block_lives(s, b, &s->live, depth[b]);
}

/* --- fitting ------------------------------------------------------------- */

static bool within(const life *l, range r)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->list[i].from < r.to && r.from < l->list[i].to)
            return true;
    return false;
}

static bool arcs_meet(const arc *a, const arc *b)
{
    uint32_t ii = a->interval;

    if (a->loop.from != b->loop.from)
        return false;
    return (b->from + ii - a->from) % ii < a->length ||
           (a->from + ii - b->from) % ii < b->length;
}

static bool overlap(const life *a, const life *b)
{
    uint32_t i = 0, j = 0;

    if (a->arc.interval && b->arc.interval && arcs_meet(&a->arc, &b->arc))
        return true;
    if ((a->arc.interval && within(b, a->arc.loop)) ||
        (b->arc.interval && within(a, b->arc.loop)))
        return true;
    while (i < a->n && j < b->n) {
        if (a->list[i].to <= b->list[j].from)
            i++;
        else if (b->list[j].to <= a->list[i].from)
            j++;
        else
            return true;
    }
    return false;
}

static occupants *file_of(alloc *s, uint32_t v, uint32_t reg)
{
    return &s->files[s->p->classes[v] == ISA_V][reg];
}

/* What would have to leave machine register reg for v, as a weight. */
static uint64_t price(alloc *s, uint32_t v, uint32_t reg)
{
    const occupants *o = file_of(s, v, reg);
    uint64_t sum = 0;

    for (size_t k = 0; k < o->n; k++) {
        const life *l = &s->lives[o->members[k]];

        if (!overlap(l, &s->lives[v]))
            continue;
        if (l->weight == UINT64_MAX)
            return UINT64_MAX;
        sum += l->weight;
    }
    return sum;
}

static void evict(alloc *s, uint32_t v, uint32_t reg)
{
    occupants *o = file_of(s, v, reg);
    size_t n = 0;

    for (size_t k = 0; k < o->n; k++) {
        life *l = &s->lives[o->members[k]];

        if (overlap(l, &s->lives[v])) {
            l->reg = -1;
            l->spilled = s->any_spilled = true;
        } else {
            o->members[n++] = o->members[k];
        }
    }
    o->n = n;
}

static void place(alloc *s, uint32_t v)
{
    life *l = &s->lives[v];
    uint32_t n = (s->p->classes[v] == ISA_V ? ISA_N_VREGS : ISA_N_IREGS) -
                 s->spare,
             best = 0;
    uint64_t least = UINT64_MAX;
    occupants *o;

    for (uint32_t r = 0; r < n && least; r++) {
        uint64_t cost = price(s, v, r);

        if (cost < least) {
            least = cost;
            best = r;
        }
    }
    if (least && least >= l->weight) {
        l->spilled = s->any_spilled = true;
        return;
    }
    if (least)
        evict(s, v, best);
    l->reg = (int32_t)best;
    o = file_of(s, v, best);
    *arena_append(s->a, o->members, o->n, o->cap) = v;
}

static uint32_t starts(const life *l)
{
    return l->n ? l->list[0].from : l->arc.loop.from;
}

static int by_start(const void *a, const void *b, void *lives)
{
    const life *sort_lives = lives;

    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint32_t fx = starts(&sort_lives[x]), fy = starts(&sort_lives[y]);

    if (fx != fy)
        return fx < fy ? -1 : 1;
    return (x > y) - (x < y);
}

/* --- spilling ------------------------------------------------------------ */

/* Operations of one or two cycles on the IAU that depend on their sources only.
 */
static bool is_cheap(isa_op op)
{
    return isa_ops[op].units == 1 << ISA_UNIT_IAU && isa_ops[op].lat <= 2 &&
           op != ISA_OP_ldret;
}

/* Is the IAU so busy in block b that a reload is better than an operation? */
static bool iau_is_busy(const alloc *s, uint32_t b)
{
    const vp_block *x = &s->p->blocks[b];
    uint32_t n = 0;

    for (size_t i = 0; i < x->n_ops; i++)
        n += isa_ops[x->ops[i].in.op].units == 1 << ISA_UNIT_IAU;
    return n * 4 > x->cycles * 3;
}

/* Where v is read, are the sources of its operation alive to the block's end
 * and in registers, so that nothing new has to be kept? Values written once
 * never change. */
static bool sources_live(const alloc *s, uint32_t v)
{
    const isa_instr *def = &s->lives[v].def->in;

    for (unsigned k = 0; k < ISA_MAX_SRC; k++) {
        isa_operand x = def->src[k];

        if (!vp_is_reg(x))
            continue;
        if (s->lives[x.number].defs != 1 || s->lives[x.number].spilled)
            return false;
        for (uint32_t n = 0; n < s->n_users[v]; n++)
            if (!(s->live.out[s->users[v][n]][x.number / 64] >> x.number % 64 &
                  1))
                return false;
    }
    for (uint32_t n = 0; n < s->n_users[v]; n++)
        if (iau_is_busy(s, s->users[v][n]))
            return false;
    return true;
}

/* Can the value be made anew wherever it is read, without a register of its
 * own? */
static bool made_anew(const alloc *s, uint32_t v)
{
    const life *l = &s->lives[v];

    if (l->defs != 1)
        return false;
    switch (l->def->in.op) {
    case ISA_OP_ldarg:
    case ISA_OP_vcon:
        return true;
    case ISA_OP_imov:
    case ISA_OP_vsplat:
        if (!vp_is_reg(l->def->in.src[0]))
            return true;
        break;
    default:
        break;
    }
    return is_cheap((isa_op)l->def->in.op) && sources_live(s, v);
}

/* Blocks that read each spilled value. */
static void find_users(alloc *s)
{
    s->users = arena_array(s->a, uint32_t *, s->p->n_regs + 1);
    s->n_users = arena_array(s->a, uint32_t, s->p->n_regs + 1);
    for (uint32_t b = 0; b < s->p->n_blocks; b++)
        for (size_t i = 0; i < s->p->blocks[b].n_ops; i++)
            for (unsigned k = 0; k < ISA_MAX_SRC; k++) {
                isa_operand x = s->p->blocks[b].ops[i].in.src[k];
                size_t n, cap;

                if (!vp_is_reg(x) || !s->lives[x.number].spilled)
                    continue;
                n = cap = s->n_users[x.number];
                if (n && s->users[x.number][n - 1] == b)
                    continue;
                *arena_append(s->a, s->users[x.number], n, cap) = b;
                s->n_users[x.number] = (uint32_t)n;
            }
}

/* A spilled value is read from the register it last went through for so many
 * operations: longer, and what must have a register would fill the file. */
enum { NEARBY = 6 };

typedef struct {
    isa_operand reg;
    uint32_t block;
    size_t at; /* operations of the block in front of its reader */
} copy;

typedef struct {
    alloc *s;
    uint32_t block;
    copy *copy;    /* per register */
    int32_t *slot; /* per register: offset in private memory, -1 = none */
    vp_op *remake; /* per register: the operation that makes it anew */
    bool *is_remade;
    vp_block out;
} spiller;

static void memory_op(spiller *sp, isa_operand reg, uint32_t v, bool store,
                      const isa_instr *near)
{
    bool vector = reg.kind == ISA_V;
    isa_op op = store ? (vector ? ISA_OP_stv128 : ISA_OP_st)
                      : (vector ? ISA_OP_ldv128 : ISA_OP_ld);
    vp_op *o = vp_add(sp->s->p, &sp->out, op);

    o->origin = &alias_spills;
    o->in.type = vector ? ISA_NO_TYPE : ISA_U32;
    o->in.sub = ISA_LOCAL;
    o->in.imm = sp->slot[v];
    o->in.line = near->line;
    o->in.col = near->col;
    if (store) {
        o->in.src[0] = reg;
        o->in.src[1] = (isa_operand){ISA_SP, 0};
    } else {
        o->in.src[0] = (isa_operand){ISA_SP, 0};
        o->in.dst[0] = reg;
    }
}

static bool recent(const spiller *sp, uint32_t v)
{
    const copy *c = &sp->copy[v];

    return c->reg.kind && c->block == sp->block &&
           sp->out.n_ops - c->at <= NEARBY;
}

static void remember(spiller *sp, uint32_t v, isa_operand reg)
{
    sp->copy[v] = (copy){reg, sp->block, sp->out.n_ops};
}

static void reload(spiller *sp, vp_op *user, unsigned k, uint32_t n_old)
{
    isa_operand old = user->in.src[k], fresh;

    if (!vp_is_reg(old) || old.number >= n_old ||
        !sp->s->lives[old.number].spilled)
        return;
    fresh = vp_reg(sp->s->p, old.kind);
    if (recent(sp, old.number)) {
        fresh = sp->copy[old.number].reg;
    } else if (sp->is_remade[old.number]) {
        vp_op *o = vp_add(sp->s->p, &sp->out, ISA_OP_nop);

        *o = sp->remake[old.number];
        o->in.dst[0] = fresh;
        o->in.line = user->in.line;
        o->in.col = user->in.col;
    } else {
        memory_op(sp, fresh, old.number, false, &user->in);
    }
    if (!recent(sp, old.number))
        remember(sp, old.number, fresh);
    for (unsigned j = k; j < ISA_MAX_SRC; j++)
        if (vp_same(user->in.src[j], old))
            user->in.src[j] = fresh;
}

static void rewrite_block(spiller *sp, vp_block *b, uint32_t n_old)
{
    sp->out = (vp_block){0};
    for (size_t i = 0; i < b->n_ops; i++) {
        vp_op o = b->ops[i];
        isa_operand stored[ISA_MAX_DST] = {{0}};
        uint32_t slots[ISA_MAX_DST] = {0};

        if (vp_is_reg(o.in.dst[0]) && o.in.dst[0].number < n_old &&
            sp->s->lives[o.in.dst[0].number].spilled &&
            sp->is_remade[o.in.dst[0].number])
            continue;
        for (unsigned k = 0; k < ISA_MAX_SRC; k++)
            reload(sp, &o, k, n_old);
        for (unsigned k = 0; k < ISA_MAX_DST; k++) {
            isa_operand d = o.in.dst[k];

            if (!vp_is_reg(d) || d.number >= n_old ||
                !sp->s->lives[d.number].spilled)
                continue;
            stored[k] = vp_reg(sp->s->p, d.kind);
            slots[k] = d.number;
            o.in.dst[k] = stored[k];
        }
        *arena_append(sp->s->p->arena, sp->out.ops, sp->out.n_ops,
                      sp->out.ops_cap) = o;
        for (unsigned k = 0; k < ISA_MAX_DST; k++)
            if (stored[k].kind) {
                memory_op(sp, stored[k], slots[k], true, &o.in);
                remember(sp, slots[k], stored[k]);
            }
    }
    b->ops = sp->out.ops;
    b->n_ops = sp->out.n_ops;
    b->ops_cap = sp->out.ops_cap;
}

static void spill(alloc *s, uint32_t *n_spills)
{
    uint32_t n_old = (uint32_t)s->p->n_regs;
    spiller sp = {.s = s};

    find_users(s);
    if (!s->p->first_temp)
        s->p->first_temp = n_old;
    sp.slot = arena_array(s->a, int32_t, n_old + 1);
    sp.copy = arena_array(s->a, copy, n_old + 1);
    sp.remake = arena_array(s->a, vp_op, n_old + 1);
    sp.is_remade = arena_array(s->a, bool, n_old + 1);
    for (uint32_t v = 0; v < n_old; v++) {
        const life *l = &s->lives[v];

        if (!l->spilled)
            continue;
        ++*n_spills;
        if (made_anew(s, v)) {
            sp.is_remade[v] = true;
            sp.remake[v] = *l->def;
            continue;
        }
        sp.slot[v] = (int32_t)s->p->private_bytes;
        s->p->private_bytes += 16;
    }
    for (uint32_t b = 0; b < s->p->n_blocks; b++)
        if (!s->p->blocks[b].fixed) { /* nothing spilled is in those */
            sp.block = b;
            rewrite_block(&sp, &s->p->blocks[b], n_old);
        }
}

/* --- the result ---------------------------------------------------------- */

static void write_registers(alloc *s)
{
    for (size_t b = 0; b < s->p->n_blocks; b++)
        for (size_t i = 0; i < s->p->blocks[b].n_ops; i++) {
            isa_instr *in = &s->p->blocks[b].ops[i].in;

            for (unsigned k = 0; k < ISA_MAX_SRC; k++)
                if (vp_is_reg(in->src[k]))
                    in->src[k].number =
                        (uint32_t)s->lives[in->src[k].number].reg;
            for (unsigned k = 0; k < ISA_MAX_DST; k++)
                if (vp_is_reg(in->dst[k]))
                    in->dst[k].number =
                        (uint32_t)s->lives[in->dst[k].number].reg;
        }
}

/* Does spilling touch a loop whose schedule is fixed? Such loops stay plain. */
static bool breaks_pipeline(const alloc *s, bool *no_pipeline)
{
    bool any = false;

    for (size_t b = 0; b < s->p->n_blocks; b++) {
        const vp_block *x = &s->p->blocks[b];

        for (size_t i = 0; x->fixed && i < x->n_ops; i++) {
            const isa_instr *in = &x->ops[i].in;
            bool hit = false;

            for (unsigned k = 0; k < ISA_MAX_SRC; k++)
                hit |= vp_is_reg(in->src[k]) &&
                       s->lives[in->src[k].number].spilled;
            for (unsigned k = 0; k < ISA_MAX_DST; k++)
                hit |= vp_is_reg(in->dst[k]) &&
                       s->lives[in->dst[k].number].spilled;
            if (hit)
                no_pipeline[x->ir] = any = true;
        }
    }
    return any;
}

static void place_all(alloc *s, const uint32_t *order, uint32_t n,
                      uint32_t spare)
{
    s->spare = spare;
    s->any_spilled = false;
    memset(s->files, 0, sizeof s->files);
    for (uint32_t k = 0; k < n; k++) {
        s->lives[order[k]].reg = -1;
        s->lives[order[k]].spilled = false;
    }
    for (uint32_t k = 0; k < n; k++)
        place(s, order[k]);
}

registers_outcome registers_assign(vprog *p,
                                   const registers_spill_policy *policy,
                                   uint32_t *n_spills, bool *no_pipeline)
{
    alloc s = {.p = p, .a = arena_create(0)};
    uint32_t *order = arena_array(s.a, uint32_t, p->n_regs + 1), n = 0;
    registers_outcome got = ASSIGN_DONE;

    find_lives(&s);
    for (uint32_t v = 0; v < p->n_regs; v++) {
        weigh(&s.lives[v]);
        if (s.lives[v].n || s.lives[v].arc.interval) {
            order[n++] = v;
            if (p->first_temp && v >= p->first_temp)
                s.lives[v].weight = UINT64_MAX;
        }
    }
    qsort_r(order, n, sizeof *order, by_start, s.lives);
    place_all(&s, order, n, 0);
    if (s.any_spilled)
        got = ASSIGN_SPILLED;
    if (s.any_spilled && policy->allowed) {
        if (policy->spare)
            place_all(&s, order, n, policy->spare);
        if (breaks_pipeline(&s, no_pipeline))
            got = ASSIGN_NO_PIPELINE;
        else
            spill(&s, n_spills);
    } else if (got == ASSIGN_DONE) {
        write_registers(&s);
    }
    arena_destroy(s.a);
    return got;
}
