/* Addresses that walk: in a loop of one block, an address that is a sum of
 * invariants and a multiple of the loop's counter becomes a register that
 * starts before the loop and is stepped by the last access through it, with the
 * post-increment the load/store units have. Addresses that differ by a constant
 * share one register. */
#include <string.h>

#include "sim/shave/passes.h"

enum { MAX_TERMS = 6, MAX_DEPTH = 24, MAX_WALKS = 12 };

/* sum of terms[i].times * terms[i].x + constant
 * + k * mul * counter (mul absent = 1) */
typedef struct {
    struct {
        isa_operand x;
        int32_t times;
    } terms[MAX_TERMS];
    uint32_t n;
    int32_t constant;
    int32_t k;
    isa_operand mul; /* kind ISA_NONE: 1 */
} linear;

typedef struct {
    linear form; /* constant is 0 */
    isa_operand reg;
    size_t last; /* operation whose access steps it */
    isa_operand by;
} walk;

typedef struct {
    vprog *p;
    uint32_t b, before; /* the loop's block, the only other way in */
    const vp_op **def;  /* per register: its operation in the block */
    isa_operand counter, next;
    int32_t step;
    isa_operand start; /* value of the counter on entry */
    walk walks[MAX_WALKS];
    uint32_t n_walks;
} loop;

/* --- linear forms -------------------------------------------------------- */

static bool add_term(linear *f, isa_operand x, int32_t times)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (vp_same(f->terms[i].x, x)) {
            f->terms[i].times =
                (int32_t)((uint32_t)f->terms[i].times + (uint32_t)times);
            if (!f->terms[i].times)
                f->terms[i] = f->terms[--f->n];
            return true;
        }
    if (f->n == MAX_TERMS)
        return false;
    f->terms[f->n].x = x;
    f->terms[f->n++].times = times;
    return true;
}

/* a + sign * b into a */
static bool add_forms(linear *a, const linear *b, int32_t sign)
{
    if (a->k && b->k && !vp_same(a->mul, b->mul))
        return false;
    if (!a->k)
        a->mul = b->mul;
    a->k = (int32_t)((uint32_t)a->k + (uint32_t)(sign * b->k));
    a->constant =
        (int32_t)((uint32_t)a->constant + (uint32_t)(sign * b->constant));
    for (uint32_t i = 0; i < b->n; i++)
        if (!add_term(a, b->terms[i].x, sign * b->terms[i].times))
            return false;
    return true;
}

static void scale_form(linear *f, uint32_t by)
{
    uint32_t n = 0;

    f->constant = (int32_t)((uint32_t)f->constant * by);
    f->k = (int32_t)((uint32_t)f->k * by);
    for (uint32_t i = 0; i < f->n; i++) {
        f->terms[n] = f->terms[i];
        f->terms[n].times = (int32_t)((uint32_t)f->terms[i].times * by);
        if (f->terms[n].times)
            n++;
    }
    f->n = n;
}

static bool linear_of(const loop *l, isa_operand x, linear *f, int depth);

/* A form times an invariant register: what was constant becomes a term. */
static bool times_invariant(linear *f, isa_operand x)
{
    linear r = {.k = f->k, .mul = x};

    if (f->n || (f->k && f->mul.kind))
        return false;
    if (f->constant && !add_term(&r, x, f->constant))
        return false;
    *f = r;
    return true;
}

static bool is_invariant(const loop *l, isa_operand x)
{
    return x.kind == ISA_I && !l->def[x.number] && !vp_same(x, l->counter);
}

static bool product(const loop *l, const isa_instr *in, linear *f, int depth)
{
    isa_operand a = in->src[0], b = in->src[1];

    if (b.kind == ISA_IMM) {
        if (!linear_of(l, a, f, depth))
            return false;
        scale_form(f, b.number);
        return true;
    }
    if (is_invariant(l, a) && !is_invariant(l, b)) {
        isa_operand t = a;

        a = b;
        b = t;
    }
    return is_invariant(l, b) && linear_of(l, a, f, depth) &&
           times_invariant(f, b);
}

static bool linear_of(const loop *l, isa_operand x, linear *f, int depth)
{
    const vp_op *o;
    linear g;

    memset(f, 0, sizeof *f);
    if (x.kind == ISA_IMM) {
        f->constant = (int32_t)x.number;
        return true;
    }
    if (vp_same(x, l->counter)) {
        f->k = 1;
        return true;
    }
    if (x.kind == ISA_SP || (x.kind == ISA_I && !l->def[x.number]))
        return add_term(f, x, 1);
    if (x.kind != ISA_I || depth > MAX_DEPTH)
        return false;
    o = l->def[x.number];
    switch (o->in.op) {
    case ISA_OP_imov:
        return linear_of(l, o->in.src[0], f, depth + 1);
    case ISA_OP_iadd:
    case ISA_OP_isub:
        return linear_of(l, o->in.src[0], f, depth + 1) &&
               linear_of(l, o->in.src[1], &g, depth + 1) &&
               add_forms(f, &g, o->in.op == ISA_OP_iadd ? 1 : -1);
    case ISA_OP_ishl:
        if (o->in.src[1].kind != ISA_IMM || o->in.src[1].number > 31 ||
            !linear_of(l, o->in.src[0], f, depth + 1))
            return false;
        scale_form(f, UINT32_C(1) << o->in.src[1].number);
        return true;
    case ISA_OP_imul:
        return product(l, &o->in, f, depth + 1);
    default:
        return false;
    }
}

static bool same_but_constant(const linear *a, const linear *b)
{
    if (a->n != b->n || a->k != b->k || !vp_same(a->mul, b->mul))
        return false;
    for (uint32_t i = 0; i < a->n; i++) {
        bool found = false;

        for (uint32_t j = 0; j < b->n; j++)
            found |= vp_same(a->terms[i].x, b->terms[j].x) &&
                     a->terms[i].times == b->terms[j].times;
        if (!found)
            return false;
    }
    return true;
}

/* --- the loop ------------------------------------------------------------ */

static bool find_loop(loop *l)
{
    const vp_block *b = &l->p->blocks[l->b];
    bool self = false;
    uint32_t n_in = 0;

    for (uint32_t k = 0; k < b->n_succs; k++)
        self |= b->succs[k] == l->b;
    if (!self)
        return false;
    for (uint32_t k = 0; k < l->p->n_blocks; k++)
        for (uint32_t j = 0; j < l->p->blocks[k].n_succs; j++)
            if (l->p->blocks[k].succs[j] == l->b && k != l->b) {
                l->before = k;
                n_in++;
            }
    return n_in == 1;
}

static bool find_counter(loop *l)
{
    const vp_block *b = &l->p->blocks[l->b];

    for (size_t i = 0; i < b->n_phis; i++) {
        const vp_phi *f = &b->phis[i];
        isa_operand in = {0}, back = {0};
        const vp_op *o;

        if (f->dst.kind != ISA_I || f->n_from != 2)
            continue;
        for (uint32_t k = 0; k < 2; k++)
            *(f->from[k] == l->b ? &back : &in) = f->src[k];
        if (back.kind != ISA_I || !in.kind)
            continue;
        o = l->def[back.number];
        if (!o || o->in.op != ISA_OP_iadd || !vp_same(o->in.src[0], f->dst) ||
            o->in.src[1].kind != ISA_IMM)
            continue;
        l->counter = f->dst;
        l->next = back;
        l->step = (int32_t)o->in.src[1].number;
        l->start = in;
        return true;
    }
    return false;
}

/* --- code in front of the loop ------------------------------------------- */

static isa_operand emit(loop *l, isa_op op, isa_operand a, isa_operand b)
{
    vp_block *x = &l->p->blocks[l->before];
    size_t at = x->n_ops - (vp_branch(x) ? 1 : 0);
    vp_op made = {.in = {.op = (uint8_t)op}};

    made.in.src[0] = a;
    made.in.src[1] = b;
    made.in.dst[0] = vp_reg(l->p, ISA_I);
    vp_add(l->p, x, op);
    memmove(&x->ops[at + 1], &x->ops[at], (x->n_ops - 1 - at) * sizeof *x->ops);
    x->ops[at] = made;
    return made.in.dst[0];
}

static isa_operand as_register(loop *l, isa_operand x)
{
    return x.kind == ISA_IMM ? emit(l, ISA_OP_imov, x, (isa_operand){0}) : x;
}

static isa_operand times(loop *l, isa_operand x, int32_t n)
{
    if (n == 1)
        return x;
    if (x.kind == ISA_IMM)
        return vp_imm(x.number * (uint32_t)n);
    if (n > 0 && !(n & (n - 1)))
        return emit(l, ISA_OP_ishl, x,
                    vp_imm((uint32_t)__builtin_ctz((unsigned)n)));
    return emit(l, ISA_OP_imul, x, vp_imm((uint32_t)n));
}

static isa_operand sum(loop *l, isa_operand a, isa_operand b)
{
    if (!a.kind || (a.kind == ISA_IMM && !a.number))
        return b;
    if (b.kind == ISA_IMM && !b.number)
        return a;
    if (a.kind == ISA_IMM && b.kind == ISA_IMM)
        return vp_imm(a.number + b.number);
    return a.kind == ISA_IMM ? emit(l, ISA_OP_iadd, b, a)
                             : emit(l, ISA_OP_iadd, a, b);
}

static isa_operand initial(loop *l, const linear *f)
{
    isa_operand r = {0}, c = l->start;

    for (uint32_t i = 0; i < f->n; i++)
        r = sum(l, r, times(l, f->terms[i].x, f->terms[i].times));
    if (f->mul.kind && !(c.kind == ISA_IMM && !c.number))
        c = c.kind == ISA_IMM ? times(l, f->mul, (int32_t)c.number)
                              : emit(l, ISA_OP_imul, c, f->mul);
    r = sum(l, r, times(l, c, f->k));
    return r.kind ? r : vp_imm(0);
}

/* Walks of one stride share the register that holds it. */
static isa_operand increment(loop *l, const walk *w)
{
    const linear *f = &w->form;
    int32_t n = (int32_t)((uint32_t)f->k * (uint32_t)l->step);

    if (!f->mul.kind)
        return vp_imm((uint32_t)n);
    for (const walk *o = l->walks; o < w; o++)
        if (o->form.k == f->k && vp_same(o->form.mul, f->mul))
            return o->by;
    return as_register(l, times(l, f->mul, n));
}

/* --- walking ------------------------------------------------------------- */

static isa_operand *address_of(isa_instr *in)
{
    return &in->src[vp_address(in)];
}

static isa_op stepping_form(isa_op op)
{
    switch (op) {
    case ISA_OP_ld:
        return ISA_OP_ldp;
    case ISA_OP_ldv64:
        return ISA_OP_ldv64p;
    case ISA_OP_ldv128:
        return ISA_OP_ldv128p;
    case ISA_OP_st:
        return ISA_OP_stp;
    case ISA_OP_stv64:
        return ISA_OP_stv64p;
    case ISA_OP_stv128:
        return ISA_OP_stv128p;
    default:
        return ISA_OP_nop;
    }
}

static walk *walk_for(loop *l, const linear *f)
{
    walk *w;

    for (uint32_t i = 0; i < l->n_walks; i++)
        if (same_but_constant(&l->walks[i].form, f))
            return &l->walks[i];
    if (l->n_walks == MAX_WALKS)
        return NULL;
    w = &l->walks[l->n_walks++];
    w->form = *f;
    w->form.constant = 0;
    w->reg = vp_reg(l->p, ISA_I);
    return w;
}

static void find_walks(loop *l)
{
    vp_block *b = &l->p->blocks[l->b];

    for (size_t i = 0; i < b->n_ops; i++) {
        isa_instr *in = &b->ops[i].in;
        linear f;
        walk *w;

        if (stepping_form((isa_op)in->op) == ISA_OP_nop)
            continue;
        if (address_of(in)->kind != ISA_I || !l->def[address_of(in)->number])
            continue;
        if (!linear_of(l, *address_of(in), &f, 0) || !f.k)
            continue;
        w = walk_for(l, &f);
        if (!w)
            continue;
        *address_of(in) = w->reg;
        in->imm = (int32_t)((uint32_t)in->imm + (uint32_t)f.constant);
        w->last = i;
    }
}

/* The last access through the register steps it, and a phi closes the circle.
 */
static void close_walk(loop *l, walk *w)
{
    isa_operand start = initial(l, &w->form);
    vp_block *b = &l->p->blocks[l->b];
    isa_instr *in = &b->ops[w->last].in;
    bool is_store = isa_ops[in->op].flags & ISA_F_STORE;
    vp_phi *f = arena_append(l->p->arena, b->phis, b->n_phis, b->phis_cap);

    in->op = (uint8_t)stepping_form((isa_op)in->op);
    w->by = increment(l, w);
    in->src[is_store ? 2 : 1] = w->by;
    in->dst[is_store ? 0 : 1] = vp_reg(l->p, ISA_I);
    *f = (vp_phi){.dst = w->reg, .n_from = 2};
    f->src = arena_array(l->p->arena, isa_operand, 2);
    f->from = arena_array(l->p->arena, uint32_t, 2);
    f->src[0] = start;
    f->from[0] = l->before;
    f->src[1] = in->dst[is_store ? 0 : 1];
    f->from[1] = l->b;
}

/* What a phi gives that is not the counter: no sum of anything. */
static const vp_op varies = {.in = {.op = ISA_OP_nop}};

static void reduce_block(vprog *p, uint32_t n, arena *scratch)
{
    loop l = {.p = p, .b = n};
    vp_block *b = &p->blocks[n];

    if (!find_loop(&l))
        return;
    l.def = arena_array(scratch, const vp_op *, p->n_regs + 1);
    for (size_t i = 0; i < b->n_ops; i++)
        for (unsigned k = 0; k < ISA_MAX_DST; k++)
            if (vp_is_reg(b->ops[i].in.dst[k]))
                l.def[b->ops[i].in.dst[k].number] = &b->ops[i];
    for (size_t i = 0; i < b->n_phis; i++)
        l.def[b->phis[i].dst.number] = &varies;
    if (!find_counter(&l))
        return;
    find_walks(&l);
    for (uint32_t i = 0; i < l.n_walks; i++)
        close_walk(&l, &l.walks[i]);
}

void strength_reduce(vprog *p)
{
    for (uint32_t b = 0; b < p->n_blocks; b++) {
        arena *scratch = arena_create(0);

        reduce_block(p, b, scratch);
        arena_destroy(scratch);
    }
}
