/* Compares loops of two programs made from nearly the same source. */
#include "runtime/lint/loops.h"

#include <string.h>

bool loops_is_loop(const isa_function *f, uint32_t b)
{
    const isa_block *x = &f->blocks[b];

    if (x->kind == ISA_KERNEL)
        return true;
    for (uint32_t i = x->first; i < x->first + x->n_instrs; i++) {
        const isa_instr *in = &f->instrs[i];

        if ((isa_ops[in->op].flags & ISA_F_TARGET) && in->imm >= 0 &&
            (uint32_t)in->imm == b)
            return true;
    }
    if (b && x->kind == ISA_PLAIN) {
        const isa_block *before = &f->blocks[b - 1];

        for (uint32_t i = before->first; i < before->first + before->n_instrs;
             i++)
            if (f->instrs[i].op == ISA_OP_rep)
                return true;
    }
    return false;
}

static bool of_loop(const isa_instr *in, uint32_t first, uint32_t last)
{
    return in->line >= first && in->line <= last &&
           !(isa_ops[in->op].flags & ISA_F_BRANCH);
}

/* How often a block does operation op of a place of the source. */
static uint32_t copies(const isa_function *f, uint32_t b, uint32_t line,
                       uint32_t col, uint32_t op)
{
    const isa_block *x = &f->blocks[b];
    uint32_t n = 0;

    for (uint32_t i = x->first; i < x->first + x->n_instrs; i++)
        n += f->instrs[i].line == line && f->instrs[i].col == col &&
             f->instrs[i].op == op;
    return n;
}

/* Post-increment or not, an access is the same. */
static uint32_t plain(uint32_t op)
{
    static const uint8_t pairs[][2] = {
        {ISA_OP_ldp, ISA_OP_ld},         {ISA_OP_ldv64p, ISA_OP_ldv64},
        {ISA_OP_ldv128p, ISA_OP_ldv128}, {ISA_OP_stp, ISA_OP_st},
        {ISA_OP_stv64p, ISA_OP_stv64},   {ISA_OP_stv128p, ISA_OP_stv128}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i][0] == op)
            return pairs[i][1];
    return op;
}

static uint32_t accesses(const isa_function *f, uint32_t b, const isa_instr *in)
{
    uint32_t n = 0, op = plain(in->op);

    for (uint32_t o = 0; o < ISA_N_OPS; o++)
        if (plain(o) == op)
            n += copies(f, b, in->line, in->col, o);
    return n;
}

static bool is_access(const isa_instr *in)
{
    return isa_ops[in->op].sub == ISA_SUB_SPACE;
}

/* The loop block that does the access of *at most often; false: none does. */
static bool busiest(const isa_function *f, const isa_instr *at, uint32_t *block,
                    uint32_t *n)
{
    *n = 0;
    for (uint32_t b = 0; b < f->n_blocks; b++) {
        uint32_t k = loops_is_loop(f, b) ? accesses(f, b, at) : 0;

        if (k > *n) {
            *n = k;
            *block = b;
        }
    }
    return *n;
}

bool loops_compare(const isa_function *before, const isa_function *after,
                   uint32_t first, uint32_t last, double *cycles_before,
                   double *cycles_after)
{
    for (uint32_t b = 0; b < before->n_blocks; b++) {
        const isa_block *x = &before->blocks[b];

        if (!loops_is_loop(before, b))
            continue;
        for (uint32_t i = x->first; i < x->first + x->n_instrs; i++) {
            const isa_instr *in = &before->instrs[i];
            uint32_t at_b = 0, at_a = 0, n_b, n_a, least;

            if (!of_loop(in, first, last) || !is_access(in) ||
                !busiest(before, in, &at_b, &n_b) ||
                !busiest(after, in, &at_a, &n_a))
                continue;
            least = n_b < n_a ? n_b : n_a;
            if (n_b % least || n_a % least)
                continue;
            *cycles_before = (double)before->blocks[at_b].cycles * least / n_b;
            *cycles_after = (double)after->blocks[at_a].cycles * least / n_a;
            return true;
        }
    }
    return false;
}
