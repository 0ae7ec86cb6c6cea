/* See waste.h. */
#include "runtime/whatif/waste.h"

#include <stdbool.h>

#include "isa/lines.h"

/* A cycle of a loop counts as much as so many outside of it; of loops in loops
 * more, up to a limit. */
enum { LOOP_WEIGHT = 16, MOST_WEIGHT = 65536 };

/* --- blocks --------------------------------------------------------------- */

static const isa_instr *instrs_of(const isa_function *f, uint32_t b)
{
    return &f->instrs[f->blocks[b].first];
}

/* Last blocks of the loops, by their first one; a loop lies between a branch
 * and an earlier block that it leads to. In the arena. */
static uint32_t *find_ends(const isa_function *f, arena *a)
{
    uint32_t *ends = arena_array(a, uint32_t, f->n_blocks + 1);

    for (uint32_t b = 0; b < f->n_blocks; b++)
        ends[b] = f->blocks[b].kind == ISA_KERNEL ? b + 1 : 0;
    for (uint32_t b = 0; b < f->n_blocks; b++)
        for (uint32_t k = 0; k < f->blocks[b].n_instrs; k++) {
            const isa_instr *i = &instrs_of(f, b)[k];

            if (i->op == ISA_OP_rep && b + 1 < f->n_blocks &&
                ends[b + 1] < b + 2)
                ends[b + 1] = b + 2;
            if (isa_ops[i->op].flags & ISA_F_TARGET && i->imm >= 0 &&
                (uint32_t)i->imm <= b && ends[i->imm] < b + 1)
                ends[i->imm] = b + 1;
        }
    return ends;
}

/* How much a cycle of each block counts. To be freed. */
static double *weigh(const isa_function *f, arena *a)
{
    double *weights = arena_array(a, double, f->n_blocks + 1);
    uint32_t *ends = find_ends(f, a);

    for (uint32_t b = 0; b < f->n_blocks; b++)
        weights[b] = 1;
    for (uint32_t first = 0; first < f->n_blocks; first++)
        for (uint32_t b = first; b < ends[first]; b++)
            if (weights[b] < MOST_WEIGHT)
                weights[b] *= LOOP_WEIGHT;
    return weights;
}

/* Cycles of the block with something of that kind. of[t]: of cycle t. */
typedef void mark(const isa_function *f, uint32_t b, bool *of, arena *a);

static void mark_divisions(const isa_function *f, uint32_t b, bool *of,
                           arena *a)
{
    const isa_block *x = &f->blocks[b];
    uint32_t *lines = arena_array(a, uint32_t, x->cycles + 1);

    isa_cycle_lines(f, b, lines);
    for (uint32_t k = 0; k < x->n_instrs; k++) {
        const isa_instr *in = &instrs_of(f, b)[k];

        if (in->op != ISA_OP_idiv && in->op != ISA_OP_irem)
            continue;
        for (uint32_t t = 0; t < x->cycles; t++)
            of[t] |= in->line && lines[t] == in->line;
    }
}

static void mark_branches(const isa_function *f, uint32_t b, bool *of, arena *a)
{
    const isa_block *x = &f->blocks[b];
    uint32_t from = x->cycles;

    (void)a;
    for (uint32_t k = 0; k < x->n_instrs; k++)
        if (isa_ops[instrs_of(f, b)[k].op].flags & ISA_F_BRANCH)
            from = instrs_of(f, b)[k].cycle;
    for (uint32_t t = from; t < x->cycles; t++)
        of[t] = true;
    for (uint32_t k = 0; k < x->n_instrs; k++)
        if (!(isa_ops[instrs_of(f, b)[k].op].flags & ISA_F_BRANCH))
            of[instrs_of(f, b)[k].cycle] = false;
}

static bool is_private(const isa_instr *in)
{
    if (isa_ops[in->op].sub != ISA_SUB_SPACE || in->sub != ISA_LOCAL)
        return false;
    for (int s = 0; s < ISA_MAX_SRC; s++)
        if (in->src[s].kind == ISA_SP)
            return true;
    return false;
}

static void mark_spills(const isa_function *f, uint32_t b, bool *of, arena *a)
{
    const isa_block *x = &f->blocks[b];

    (void)a;
    if (!f->n_spills)
        return;
    for (uint32_t k = 0; k < x->n_instrs; k++)
        of[instrs_of(f, b)[k].cycle] |= is_private(&instrs_of(f, b)[k]);
    for (uint32_t k = 0; k < x->n_instrs; k++)
        if (!is_private(&instrs_of(f, b)[k]))
            of[instrs_of(f, b)[k].cycle] = false;
}

static mark *const marks[WASTE_N_KINDS] = {[WASTE_DIVISIONS] = mark_divisions,
                                           [WASTE_BRANCHES] = mark_branches,
                                           [WASTE_SPILLS] = mark_spills};

static uint64_t count(const isa_function *f, uint32_t b, waste_kind k, arena *a)
{
    uint32_t n = f->blocks[b].cycles;
    arena_mark mark_of = arena_save(a);
    bool *of = arena_array(a, bool, n + 1);
    uint64_t sum = 0;

    marks[k](f, b, of, a);
    for (uint32_t t = 0; t < n; t++)
        sum += of[t];
    arena_restore(a, mark_of);
    return sum;
}

/* --- what is asked -------------------------------------------------------- */

double waste_share(const isa_function *f, waste_kind k, arena *scratch)
{
    double *weights = weigh(f, scratch);
    double all = 0, part = 0;

    for (uint32_t b = 0; b < f->n_blocks; b++) {
        all += weights[b] * (double)f->blocks[b].cycles;
        part += weights[b] * (double)count(f, b, k, scratch);
    }
    return all > 0 ? part / all : 0;
}

static bool is_of(const isa_function *f, const isa_instr *in, waste_kind k)
{
    switch (k) {
    case WASTE_DIVISIONS:
        return in->op == ISA_OP_idiv || in->op == ISA_OP_irem;
    case WASTE_BRANCHES:
        return isa_ops[in->op].flags & ISA_F_BRANCH;
    default:
        return f->n_spills && is_private(in);
    }
}

/* Operations of that kind of a line in a block. */
static uint64_t count_line(const isa_function *f, uint32_t b, waste_kind k,
                           uint32_t line)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < f->blocks[b].n_instrs; i++)
        n +=
            instrs_of(f, b)[i].line == line && is_of(f, &instrs_of(f, b)[i], k);
    return n;
}

uint32_t waste_line(const isa_function *f, waste_kind k, arena *scratch)
{
    double *weights = weigh(f, scratch);
    uint32_t line = 0;
    double most = 0;

    for (uint32_t b = 0; b < f->n_blocks; b++)
        for (uint32_t i = 0; i < f->blocks[b].n_instrs; i++) {
            const isa_instr *at = &instrs_of(f, b)[i];
            double n;

            if (!at->line || at->line == line || !is_of(f, at, k))
                continue;
            n = (double)count_line(f, b, k, at->line) * weights[b];
            if (n > most) {
                most = n;
                line = at->line;
            }
        }
    return line;
}
