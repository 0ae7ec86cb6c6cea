/* Small operations on the program being built. */
#include "sim/shave/vprog.h"

#include <string.h>

isa_operand vp_reg(vprog *p, isa_operand_kind kind)
{
    *arena_append(p->arena, p->classes, p->n_regs, p->regs_cap) = (uint8_t)kind;
    return (isa_operand){(uint8_t)kind, (uint32_t)p->n_regs - 1};
}

uint32_t vp_vector(vprog *p, const uint8_t bytes[ISA_VECTOR_BYTES])
{
    for (size_t i = 0; i < p->n_vectors; i++)
        if (!memcmp(p->vectors[i], bytes, ISA_VECTOR_BYTES))
            return (uint32_t)i;
    memcpy(arena_append(p->arena, p->vectors, p->n_vectors, p->vectors_cap),
           bytes, ISA_VECTOR_BYTES);
    return (uint32_t)p->n_vectors - 1;
}

uint32_t vp_callee(vprog *p, const char *name)
{
    for (size_t i = 0; i < p->n_callees; i++)
        if (!strcmp(p->callees[i], name))
            return (uint32_t)i;
    *arena_append(p->arena, p->callees, p->n_callees, p->callees_cap) =
        arena_strdup(p->arena, name);
    return (uint32_t)p->n_callees - 1;
}

vp_op *vp_add(vprog *p, vp_block *b, isa_op op)
{
    vp_op *o = arena_append(p->arena, b->ops, b->n_ops, b->ops_cap);

    memset(o, 0, sizeof *o);
    o->in.op = (uint8_t)op;
    return o;
}

vp_op *vp_branch(vp_block *b)
{
    vp_op *last = b->n_ops ? &b->ops[b->n_ops - 1] : NULL;

    return last && isa_ops[last->in.op].flags & ISA_F_BRANCH &&
                   last->in.op != ISA_OP_rep
               ? last
               : NULL;
}

/* A load that asks the caches is an effect: the host code logs it too. */
static bool has_effect(const vp_op *o)
{
    return !isa_n_dst((isa_op)o->in.op) ||
           isa_ops[o->in.op].flags & ISA_F_STORE ||
           (isa_ops[o->in.op].flags & ISA_F_LOAD && o->in.sub == ISA_GLOBAL);
}

/* Marks what o reads; false when nothing new was marked. */
static bool mark(bool *used, const isa_operand *ops, unsigned n)
{
    bool any = false;

    for (unsigned k = 0; k < n; k++)
        if (vp_is_reg(ops[k]) && !used[ops[k].number])
            used[ops[k].number] = any = true;
    return any;
}

static bool wanted(const bool *used, const vp_op *o)
{
    bool any = has_effect(o);

    for (unsigned k = 0; k < ISA_MAX_DST; k++)
        any |= vp_is_reg(o->in.dst[k]) && used[o->in.dst[k].number];
    return any;
}

static bool mark_block(const vp_block *b, bool *used)
{
    bool any = false;

    for (size_t i = b->n_ops; i-- > 0;)
        if (wanted(used, &b->ops[i]))
            any |= mark(used, b->ops[i].in.src, ISA_MAX_SRC);
    for (size_t i = 0; i < b->n_phis; i++)
        if (used[b->phis[i].dst.number])
            any |= mark(used, b->phis[i].src, b->phis[i].n_from);
    return any;
}

void vp_drop_dead(vprog *p)
{
    bool *used = arena_array(p->arena, bool, p->n_regs + 1), again = true;

    while (again) {
        again = false;
        for (size_t b = p->n_blocks; b-- > 0;)
            again |= mark_block(&p->blocks[b], used);
    }
    for (size_t k = 0; k < p->n_blocks; k++) {
        vp_block *b = &p->blocks[k];
        size_t n = 0;

        for (size_t i = 0; i < b->n_ops; i++)
            if (wanted(used, &b->ops[i]))
                b->ops[n++] = b->ops[i];
        b->n_ops = n;
        n = 0;
        for (size_t i = 0; i < b->n_phis; i++)
            if (used[b->phis[i].dst.number])
                b->phis[n++] = b->phis[i];
        b->n_phis = n;
    }
}
