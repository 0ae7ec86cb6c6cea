/* Liveness of virtual registers, and loop depths. */
#include "sim/shave/passes.h"

static void set(uint64_t *bits, isa_operand x)
{
    bits[x.number / 64] |= UINT64_C(1) << x.number % 64;
}

static bool get(const uint64_t *bits, isa_operand x)
{
    return bits[x.number / 64] >> x.number % 64 & 1;
}

static void local_sets(const vp_block *b, uint64_t *use, uint64_t *def)
{
    for (size_t i = 0; i < b->n_phis; i++)
        set(def, b->phis[i].dst);
    for (size_t i = 0; i < b->n_ops; i++) {
        const isa_instr *in = &b->ops[i].in;

        for (unsigned k = 0; k < ISA_MAX_SRC; k++)
            if (vp_is_reg(in->src[k]) && !get(def, in->src[k]))
                set(use, in->src[k]);
        for (unsigned k = 0; k < ISA_MAX_DST; k++)
            if (vp_is_reg(in->dst[k]))
                set(def, in->dst[k]);
    }
}

/* What phis read lives out of the block it comes from. */
static void phi_reads(const vprog *p, uint64_t **out)
{
    for (size_t b = 0; b < p->n_blocks; b++)
        for (size_t i = 0; i < p->blocks[b].n_phis; i++) {
            const vp_phi *f = &p->blocks[b].phis[i];

            for (uint32_t k = 0; k < f->n_from; k++)
                if (vp_is_reg(f->src[k]))
                    set(out[f->from[k]], f->src[k]);
        }
}

void liveness_compute(const vprog *p, arena *a, liveness *l)
{
    uint32_t words = (uint32_t)p->n_regs / 64 + 1;
    uint64_t **use = arena_array(a, uint64_t *, p->n_blocks);
    uint64_t **def = arena_array(a, uint64_t *, p->n_blocks);
    bool again = true;

    l->words = words;
    l->in = arena_array(a, uint64_t *, p->n_blocks);
    l->out = arena_array(a, uint64_t *, p->n_blocks);
    for (size_t b = 0; b < p->n_blocks; b++) {
        use[b] = arena_array(a, uint64_t, words);
        def[b] = arena_array(a, uint64_t, words);
        l->in[b] = arena_array(a, uint64_t, words);
        l->out[b] = arena_array(a, uint64_t, words);
        local_sets(&p->blocks[b], use[b], def[b]);
    }
    phi_reads(p, l->out);
    while (again) {
        again = false;
        for (size_t b = p->n_blocks; b-- > 0;)
            for (uint32_t w = 0; w < words; w++) {
                uint64_t out = l->out[b][w], in;

                for (uint32_t k = 0; k < p->blocks[b].n_succs; k++)
                    out |= l->in[p->blocks[b].succs[k]][w];
                in = use[b][w] | (out & ~def[b][w]);
                again |= in != l->in[b][w] || out != l->out[b][w];
                l->in[b][w] = in;
                l->out[b][w] = out;
            }
    }
}

/* Blocks stand in an order in which a loop's lie between its head and the
 * branch back to it. */
uint32_t *liveness_loop_depths(const vprog *p, arena *a)
{
    uint32_t *depth = arena_array(a, uint32_t, p->n_blocks + 1);

    for (size_t b = 0; b < p->n_blocks; b++)
        for (uint32_t k = 0; k < p->blocks[b].n_succs; k++)
            for (size_t i = p->blocks[b].succs[k]; i <= b; i++)
                depth[i]++;
    return depth;
}
