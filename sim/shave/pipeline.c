/* Which loops can be pipelined, how often they run, and their blocks. */
#include "sim/shave/pipeline.h"

#include <string.h>

#include "sim/shave/modulo.h"
#include "sim/shave/passes.h"

typedef struct {
    vprog *p;
    arena *a;
    uint32_t b;    /* the loop */
    uint32_t exit; /* where it goes on */
    vp_op *body;   /* without what only the branch needed */
    uint32_t n;
    uint32_t *def; /* per register: operation of the body + 1; UINT32_MAX =
                      several */
    modulo_loop mod;
    /* The count: continue while counter + step <cond> bound. */
    isa_operand counter, bound;
    int32_t step;
    isa_cond cond;
    isa_type type;
} piper;

/* --- what the loop counts ------------------------------------------------ */

static isa_cond negated(isa_cond c)
{
    static const isa_cond other[] = {
        [ISA_EQ] = ISA_NE, [ISA_NE] = ISA_EQ, [ISA_LT] = ISA_GE,
        [ISA_LE] = ISA_GT, [ISA_GT] = ISA_LE, [ISA_GE] = ISA_LT};

    return other[c];
}

static isa_cond swapped(isa_cond c)
{
    static const isa_cond other[] = {
        [ISA_EQ] = ISA_EQ, [ISA_NE] = ISA_NE, [ISA_LT] = ISA_GT,
        [ISA_LE] = ISA_GE, [ISA_GT] = ISA_LT, [ISA_GE] = ISA_LE};

    return other[c];
}

static const vp_op *only_def(const vp_block *b, isa_operand r, size_t *at)
{
    const vp_op *found = NULL;

    for (size_t i = 0; i < b->n_ops; i++)
        for (unsigned k = 0; k < ISA_MAX_DST; k++)
            if (vp_is_reg(b->ops[i].in.dst[k]) &&
                vp_same(b->ops[i].in.dst[k], r)) {
                if (found)
                    return NULL;
                found = &b->ops[i];
                *at = i;
            }
    return found;
}

static bool defined_in(const vp_block *b, isa_operand r)
{
    for (size_t i = 0; i < b->n_ops; i++)
        for (unsigned k = 0; k < ISA_MAX_DST; k++)
            if (vp_same(b->ops[i].in.dst[k], r))
                return true;
    return false;
}

/* v = counter + step, compared after it is made. */
static bool is_counter(piper *x, const vp_block *b, isa_operand v,
                       size_t cmp_at)
{
    size_t at, copy_at;
    const vp_op *o, *copy;

    if (v.kind != ISA_I || !(o = only_def(b, v, &at)) || at > cmp_at ||
        o->in.op != ISA_OP_iadd || o->in.src[0].kind != ISA_I ||
        o->in.src[1].kind != ISA_IMM)
        return false;
    x->counter = o->in.src[0];
    x->step = (int32_t)o->in.src[1].number;
    if (vp_same(x->counter, v))
        return true;
    copy = only_def(b, x->counter, &copy_at);
    return copy && copy->in.op == ISA_OP_imov && copy_at > at &&
           vp_same(copy->in.src[0], v);
}

static bool counts(piper *x, const vp_block *b, const vp_op *branch)
{
    size_t at;
    const vp_op *cmp = only_def(b, branch->in.src[0], &at);
    isa_operand bound;

    if (branch->in.op != ISA_OP_brc || (uint32_t)branch->in.imm != x->b ||
        !cmp || cmp->in.op != ISA_OP_icmp)
        return false;
    x->cond = (isa_cond)cmp->in.sub;
    x->type = (isa_type)cmp->in.type;
    if (is_counter(x, b, cmp->in.src[0], at)) {
        bound = cmp->in.src[1];
    } else if (is_counter(x, b, cmp->in.src[1], at)) {
        bound = cmp->in.src[0];
        x->cond = swapped(x->cond);
    } else {
        return false;
    }
    if (!branch->in.sub)
        x->cond = negated(x->cond);
    x->bound = bound;
    if (vp_is_reg(bound) && defined_in(b, bound))
        return false;
    if (!x->step || (x->step & (x->step - 1) && -x->step & (-x->step - 1)))
        return false; /* the count would take a division */
    return x->cond == ISA_NE || (x->cond == ISA_LT && x->step > 0) ||
           (x->cond == ISA_GT && x->step < 0);
}

/* --- the body ------------------------------------------------------------ */

static bool live_after(const uint64_t *in_exit, isa_operand r)
{
    return in_exit[r.number / 64] >> r.number % 64 & 1;
}

/* o's sources are read once more, or no more; a register counts once an
 * operation. */
static void count_reads(uint32_t *readers, const isa_instr *in, bool more)
{
    for (unsigned k = 0; k < ISA_MAX_SRC; k++) {
        bool seen = !vp_is_reg(in->src[k]);

        for (unsigned j = 0; j < k; j++)
            seen |= vp_same(in->src[j], in->src[k]);
        if (!seen)
            readers[in->src[k].number] += more ? 1 : UINT32_MAX;
    }
}

/* Does anything but o itself want what o makes? */
static bool is_wanted(const isa_instr *in, const uint32_t *readers,
                      const uint64_t *in_exit)
{
    bool any = !isa_n_dst((isa_op)in->op) ||
               isa_ops[in->op].flags & (ISA_F_STORE | ISA_F_LOAD);

    for (unsigned k = 0; k < ISA_MAX_DST && !any; k++) {
        uint32_t own = 0;

        if (!vp_is_reg(in->dst[k]))
            continue;
        for (unsigned j = 0; j < ISA_MAX_SRC; j++)
            own |= vp_same(in->src[j], in->dst[k]);
        any =
            live_after(in_exit, in->dst[k]) || readers[in->dst[k].number] > own;
    }
    return any;
}

/* Without the branch its comparison and often the counter are idle. */
static void take_body(piper *x, const vp_block *b, const uint64_t *in_exit)
{
    uint32_t *readers = arena_array(x->a, uint32_t, x->p->n_regs + 1);
    uint32_t before;

    x->n = (uint32_t)b->n_ops - 1;
    x->body = arena_memdup(x->a, b->ops, b->n_ops * sizeof *b->ops);
    for (uint32_t i = 0; i < x->n; i++)
        count_reads(readers, &x->body[i].in, true);
    do {
        uint32_t n = 0;

        before = x->n;
        for (uint32_t i = 0; i < before; i++) {
            if (is_wanted(&x->body[i].in, readers, in_exit))
                x->body[n++] = x->body[i];
            else
                count_reads(readers, &x->body[i].in, false);
        }
        x->n = n;
    } while (x->n < before);
    for (uint32_t i = 0; i < x->n; i++)
        x->body[i].in.seq = i;
}

static bool note_defs(piper *x)
{
    x->def = arena_array(x->a, uint32_t, x->p->n_regs + 1);
    for (uint32_t i = 0; i < x->n; i++) {
        const isa_instr *in = &x->body[i].in;

        if (isa_ops[in->op].flags & (ISA_F_SERIAL | ISA_F_BRANCH) ||
            in->op == ISA_OP_starg || in->op == ISA_OP_ldret)
            return false;
        for (unsigned k = 0; k < ISA_MAX_DST; k++) {
            if (!vp_is_reg(in->dst[k]))
                continue;
            if (x->def[in->dst[k].number])
                return false;
            x->def[in->dst[k].number] = i + 1;
        }
    }
    return true;
}

/* --- dependences --------------------------------------------------------- */

static void edge(piper *x, uint32_t from, uint32_t to, int32_t lat,
                 uint32_t distance)
{
    *arena_append(x->a, x->mod.edges, x->mod.n_edges, x->mod.edges_cap) =
        (modulo_edge){from, to, lat, distance};
}

/* A register holds one value at a time: a reader comes after the write it wants
 * lands, and before the next iteration's (or, for a value of the iteration
 * before, this one's) lands. */
static void register_edges(piper *x)
{
    for (uint32_t u = 0; u < x->n; u++)
        for (unsigned k = 0; k < ISA_MAX_SRC; k++) {
            isa_operand r = x->body[u].in.src[k];
            const isa_instr *in;
            uint32_t d;
            int32_t lat;

            if (!vp_is_reg(r) || !x->def[r.number])
                continue;
            d = x->def[r.number] - 1;
            in = &x->body[d].in;
            lat = (int32_t)deps_latency(in, vp_same(in->dst[0], r) ? 0 : 1);
            if (u > d) {
                edge(x, d, u, lat, 0);
                edge(x, u, d, 1 - lat, 1);
            } else {
                edge(x, d, u, lat, 1);
                if (u != d)
                    edge(x, u, d, 1 - lat, 0);
            }
        }
}

static bool is_store(const vp_op *o)
{
    return isa_ops[o->in.op].flags & ISA_F_STORE;
}

static isa_operand address_of(const vp_op *o)
{
    return o->in.src[vp_address(&o->in)];
}

/* By how much the register grows each iteration; false when not by a constant.
 */
static bool stride_of(const piper *x, isa_operand r, int32_t *by)
{
    const isa_instr *in;

    *by = 0;
    if (!vp_is_reg(r) || !x->def[r.number])
        return true;
    in = &x->body[x->def[r.number] - 1].in;
    if (in->op == ISA_OP_iadd && vp_same(in->src[0], r) &&
        in->src[1].kind == ISA_IMM) {
        *by = (int32_t)in->src[1].number;
        return true;
    }
    if (isa_ops[in->op].flags & (ISA_F_LOAD | ISA_F_STORE)) {
        bool store = isa_ops[in->op].flags & ISA_F_STORE;

        if (vp_same(in->src[store ? 1 : 0], r) &&
            in->src[store ? 2 : 1].kind == ISA_IMM) {
            *by = (int32_t)in->src[store ? 2 : 1].number;
            return true;
        }
    }
    return false;
}

/* Both reach through the same value of one register. */
static bool same_value(const piper *x, uint32_t i, uint32_t j)
{
    isa_operand r = address_of(&x->body[i]);
    uint32_t d;

    if (!vp_same(r, address_of(&x->body[j])))
        return false;
    if (!vp_is_reg(r) || !x->def[r.number])
        return true;
    d = x->def[r.number] - 1;
    return d >= j || d < i; /* i < j: written behind both, or before both */
}

/* Iterations until j's bytes meet i's again (1 = the next), 0 = never while
 * both are in the pipeline. */
static uint32_t meets_after(const piper *x, uint32_t i, uint32_t j)
{
    vp_op later = x->body[i];
    int32_t by;

    if (!vp_same(address_of(&x->body[i]), address_of(&x->body[j])) ||
        !same_value(x, i < j ? i : j, i < j ? j : i) ||
        !stride_of(x, address_of(&x->body[i]), &by))
        return deps_may_alias(&x->body[i], &x->body[j], false) ? 1 : 0;
    for (uint32_t d = 1; d < MOD_MAX_STAGES; d++) {
        later.in.imm =
            (int32_t)((uint32_t)x->body[i].in.imm + d * (uint32_t)by);
        if (deps_may_alias(&later, &x->body[j], true))
            return d;
    }
    return 0;
}

static void memory_edges(piper *x)
{
    for (uint32_t i = 0; i < x->n; i++) {
        bool access =
            isa_ops[x->body[i].in.op].flags & (ISA_F_LOAD | ISA_F_STORE);

        for (uint32_t j = i; access && j < x->n; j++) {
            const vp_op *a = &x->body[i], *b = &x->body[j];
            uint32_t d;

            if (!(isa_ops[b->in.op].flags & (ISA_F_LOAD | ISA_F_STORE)) ||
                (!is_store(a) && !is_store(b)))
                continue;
            if (i != j && deps_may_alias(a, b, same_value(x, i, j)))
                edge(x, i, j, 1, 0);
            d = meets_after(x, i, j);
            if (d)
                edge(x, j, i, 1, d);
            d = i == j ? 0 : meets_after(x, j, i);
            if (d)
                edge(x, i, j, 1, d);
        }
    }
}

/* --- blocks -------------------------------------------------------------- */

static vp_op *copy_op(piper *x, vp_block *to, uint32_t i, uint32_t cycle)
{
    vp_op *o = vp_add(x->p, to, ISA_OP_nop);

    *o = x->body[i];
    o->in.cycle = cycle;
    o->in.unit = x->mod.unit[i];
    o->in.stage = (uint16_t)(x->mod.time[i] / x->mod.interval);
    return o;
}

static vp_block framed(const piper *x, isa_block_kind kind)
{
    vp_block b = {.ir = x->p->blocks[x->b].ir,
                  .kind = (uint8_t)kind,
                  .n_stages = x->mod.stages,
                  .fixed = true};

    return b;
}

static uint32_t slot(const piper *x, uint32_t i)
{
    return x->mod.time[i] % x->mod.interval;
}

static uint32_t stage(const piper *x, uint32_t i)
{
    return x->mod.time[i] / x->mod.interval;
}

static vp_block prologue(piper *x, isa_operand count)
{
    uint32_t steps = x->mod.stages - 1, ii = x->mod.interval, pad = 0;
    vp_block b = framed(x, steps ? ISA_PROLOGUE : ISA_PLAIN);
    vp_op *rep = vp_add(x->p, &b, ISA_OP_rep);

    rep->in.src[0] = count;
    rep->in.unit = ISA_UNIT_BRU;
    if (steps * ii < ISA_REP_DELAY + 1)
        pad = ISA_REP_DELAY + 1 - steps * ii;
    b.n_stages = steps ? x->mod.stages : 1;
    for (uint32_t j = 0; j < steps; j++)
        for (uint32_t i = 0; i < x->n; i++)
            if (stage(x, i) <= j)
                copy_op(x, &b, i, pad + j * ii + slot(x, i));
    b.cycles = pad + steps * ii;
    return b;
}

static vp_block kernel(piper *x)
{
    vp_block b = framed(x, ISA_KERNEL);

    for (uint32_t i = 0; i < x->n; i++)
        copy_op(x, &b, i, slot(x, i));
    b.cycles = x->mod.interval;
    return b;
}

static vp_block epilogue(piper *x)
{
    uint32_t steps = x->mod.stages - 1, ii = x->mod.interval;
    vp_block b = framed(x, steps ? ISA_EPILOGUE : ISA_PLAIN);
    vp_op *out;
    int64_t length = (int64_t)steps * ii;

    b.n_stages = steps ? x->mod.stages : 1;
    for (uint32_t j = 0; j < steps; j++)
        for (uint32_t i = 0; i < x->n; i++)
            if (stage(x, i) > j)
                copy_op(x, &b, i, j * ii + slot(x, i));
    /* Everything has landed when the loop is left. */
    for (uint32_t i = 0; i < x->n; i++) {
        int64_t last = ((int64_t)stage(x, i) - 1) * ii + slot(x, i);
        int64_t end = last + (isa_n_dst((isa_op)x->body[i].in.op)
                                  ? (int64_t)deps_latency(&x->body[i].in, 0)
                                  : 1);

        length = end > length ? end : length;
    }
    if (length < ISA_BRANCH_DELAY + 1)
        length = ISA_BRANCH_DELAY + 1;
    out = vp_add(x->p, &b, ISA_OP_bra);
    out->in.imm = (int32_t)x->exit;
    out->in.unit = ISA_UNIT_BRU;
    out->in.cycle = (uint32_t)length - ISA_BRANCH_DELAY - 1;
    out->in.seq = x->n;
    b.cycles = (uint32_t)length;
    return b;
}

typedef struct {
    piper *x;
    vp_block b;
} writer;

/* An operation to write, with its operands. */
typedef struct {
    isa_op op;
    isa_type type;
    uint32_t sub;
    isa_operand src[ISA_MAX_SRC];
} operation;

static isa_operand write_op(writer *w, operation what)
{
    vp_op *o = vp_add(w->x->p, &w->b, what.op);

    if (what.src[0].kind == ISA_IMM && isa_src_class(what.op, 0) == 'i') {
        isa_operand r = vp_reg(w->x->p, ISA_I);

        o->in.op = ISA_OP_imov;
        o->in.src[0] = what.src[0];
        o->in.dst[0] = r;
        what.src[0] = r;
        return write_op(w, what);
    }
    o->in.type = (uint8_t)what.type;
    o->in.sub = (uint8_t)what.sub;
    memcpy(o->in.src, what.src, sizeof o->in.src);
    if (isa_n_dst(what.op))
        o->in.dst[0] = vp_reg(w->x->p, ISA_I);
    return o->in.dst[0];
}

/* How often the loop runs; at least once. Where the sum below does not say (a
 * distance of 2^31 and more, or one that the steps do not hit) the result is 0,
 * and the plain loop runs. */
static isa_operand count(writer *w)
{
    piper *x = w->x;
    bool up = x->step > 0;
    uint32_t step = (uint32_t)(up ? x->step : -x->step);
    uint32_t shift = (uint32_t)__builtin_ctz(step);
    operation left = {
        .op = ISA_OP_isub,
        .src = {up ? x->bound : x->counter, up ? x->counter : x->bound}};
    isa_operand n = write_op(w, left), more;

    if (x->cond == ISA_NE && !shift)
        return n;
    if (x->cond == ISA_NE) {
        more = write_op(
            w, (operation){.op = ISA_OP_iand, .src = {n, vp_imm(step - 1)}});
        n = write_op(w, (operation){.op = ISA_OP_ishr,
                                    .type = ISA_U32,
                                    .src = {n, vp_imm(shift)}});
        return write_op(
            w, (operation){.op = ISA_OP_isel, .src = {more, vp_imm(0), n}});
    }
    if (step > 1) {
        n = write_op(
            w, (operation){.op = ISA_OP_iadd, .src = {n, vp_imm(step - 1)}});
        n = write_op(w, (operation){.op = ISA_OP_ishr,
                                    .type = ISA_S32,
                                    .src = {n, vp_imm(shift)}});
    }
    n = write_op(
        w,
        (operation){.op = ISA_OP_imax, .type = ISA_S32, .src = {n, vp_imm(0)}});
    more = write_op(w, (operation){.op = ISA_OP_icmp,
                                   .type = x->type,
                                   .sub = (uint32_t)x->cond,
                                   .src = {x->counter, x->bound}});
    return write_op(
        w, (operation){.op = ISA_OP_isel, .src = {more, n, vp_imm(1)}});
}

/* Fewer iterations than stages take the plain loop. */
static vp_block decide(piper *x, isa_operand *repeats)
{
    writer w = {x, {.ir = x->p->blocks[x->b].ir, .n_stages = 1}};
    isa_operand n = count(&w), few;
    vp_op *o;

    *repeats =
        x->mod.stages > 1
            ? write_op(&w, (operation){.op = ISA_OP_isub,
                                       .src = {n, vp_imm(x->mod.stages - 1)}})
            : n;
    few = write_op(&w, (operation){.op = ISA_OP_icmp,
                                   .type = ISA_U32,
                                   .sub = ISA_LT,
                                   .src = {n, vp_imm(x->mod.stages)}});
    o = vp_add(x->p, &w.b, ISA_OP_brc);
    o->in.src[0] = few;
    o->in.sub = 1;
    o->in.imm = (int32_t)x->b;
    w.b.in_loop_entry = true;
    return w.b;
}

/* --- putting them in ----------------------------------------------------- */

static void renumber(vprog *p, uint32_t from, uint32_t by)
{
    for (size_t b = 0; b < p->n_blocks; b++) {
        vp_block *x = &p->blocks[b];
        vp_op *br = vp_branch(x);

        for (uint32_t k = 0; k < x->n_succs; k++)
            if (x->succs[k] >= from)
                x->succs[k] += by;
        if (br && isa_ops[br->in.op].flags & ISA_F_TARGET &&
            (uint32_t)br->in.imm >= from)
            br->in.imm += (int32_t)by;
    }
}

/* The four blocks go in front of the loop; what came in now goes to the first
 * of them. */
static void insert(piper *x, const vp_block new[4])
{
    vprog *p = x->p;
    uint32_t at = x->b, loop = at + 4;

    renumber(p, at, 4);
    for (int k = 0; k < 4; k++)
        arena_append(p->arena, p->blocks, p->n_blocks, p->blocks_cap);
    memmove(&p->blocks[loop], &p->blocks[at],
            (p->n_blocks - loop) * sizeof *p->blocks);
    memcpy(&p->blocks[at], new, 4 * sizeof *new);
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        vp_block *y = &p->blocks[b];
        vp_op *br = vp_branch(y);

        if (b == loop || (b >= at && b < loop))
            continue;
        for (uint32_t k = 0; k < y->n_succs; k++)
            if (y->succs[k] == loop)
                y->succs[k] = at;
        if (br && isa_ops[br->in.op].flags & ISA_F_TARGET &&
            (uint32_t)br->in.imm == loop)
            br->in.imm = (int32_t)at;
    }
    p->blocks[at].succs[0] = loop;
    p->blocks[at].succs[1] = at + 1;
    p->blocks[at].n_succs = 2;
    vp_branch(&p->blocks[at])->in.imm = (int32_t)loop;
    p->blocks[at + 1].succs[0] = at + 2;
    p->blocks[at + 1].n_succs = 1;
    p->blocks[at + 2].succs[0] = at + 2;
    p->blocks[at + 2].succs[1] = at + 3;
    p->blocks[at + 2].n_succs = 2;
    p->blocks[at + 3].succs[0] = x->exit + 4;
    p->blocks[at + 3].n_succs = 1;
    vp_branch(&p->blocks[at + 3])->in.imm = (int32_t)(x->exit + 4);
}

/* Cycles of an iteration of the loop as it is. */
static uint32_t plain_cycles(const vprog *p, const vp_block *b,
                             const liveness *live, uint32_t n, arena *a)
{
    vp_block copy = *b;

    copy.ops = arena_memdup(a, b->ops, b->n_ops * sizeof *b->ops);
    schedule_block(p, &copy, live->in[n], live->out[n], ISA_N_IREGS, a);
    return copy.cycles;
}

static bool pipeline_one(vprog *p, uint32_t b, arena *a, pipeline_loop *out)
{
    piper x = {.p = p, .a = a, .b = b};
    const vp_block *loop = &p->blocks[b];
    vp_op *branch = vp_branch(&p->blocks[b]);
    vp_block made[4];
    isa_operand repeats;
    liveness live;
    uint32_t plain;

    if (!branch || loop->n_succs != 2 || loop->succs[0] != b ||
        loop->succs[1] != b + 1 || !counts(&x, loop, branch))
        return false;
    x.exit = loop->succs[1];
    liveness_compute(p, a, &live);
    take_body(&x, loop, live.in[x.exit]);
    x.mod.ops = x.body;
    x.mod.n_ops = x.n;
    /* Before there are edges, which are many where a body is long. */
    if (!modulo_may_fit(&x.mod) || !note_defs(&x))
        return false;
    register_edges(&x);
    memory_edges(&x);
    plain = plain_cycles(p, loop, &live, b, a);
    if (!modulo_schedule(&x.mod, plain, a))
        return false;
    made[0] = decide(&x, &repeats);
    made[1] = prologue(&x, repeats);
    made[2] = kernel(&x);
    made[3] = epilogue(&x);
    *out = (pipeline_loop){.ir = loop->ir,
                           .stages = x.mod.stages,
                           .interval = x.mod.interval,
                           .frame = made[1].cycles + made[3].cycles -
                                    (x.mod.stages - 1) * x.mod.interval};
    insert(&x, made);
    return true;
}

void pipeline_loops(vprog *p, const bool *refused, pipeline_loop **out,
                    size_t *n)
{
    size_t cap = 0;

    *out = NULL;
    *n = 0;
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        arena *scratch;
        pipeline_loop made;

        if (!p->blocks[b].may_pipeline || refused[p->blocks[b].ir])
            continue;
        scratch = arena_create(0);
        if (pipeline_one(p, b, scratch, &made)) {
            *arena_append(p->arena, *out, *n, cap) = made;
            b += 4;
        }
        arena_destroy(scratch);
    }
}
