/* Verifier and serialised form of programs. */
#include "isa/program.h"

#include <stdbool.h>
#include <string.h>

static bool slot_clash(const isa_instr *a, const isa_instr *b)
{
    const isa_op_info *ia = &isa_ops[a->op], *ib = &isa_ops[b->op];
    unsigned ua = ia->all_units ? ia->units : 1u << a->unit;
    unsigned ub = ib->all_units ? ib->units : 1u << b->unit;

    if (!ia->units || !ib->units || !(ua & ub))
        return false;
    return b->cycle < a->cycle + ia->interval &&
           a->cycle < b->cycle + ib->interval;
}

static uint32_t latency(const isa_instr *i)
{
    return i->cost ? i->cost : isa_ops[i->op].lat;
}

static const char *verify_instr(const isa_function *f, const isa_block *b,
                                uint32_t k)
{
    const isa_instr *in = &f->instrs[b->first + k];

    if (in->op >= ISA_N_OPS || in->n_src > ISA_MAX_SRC)
        return "no such operation";
    if (isa_ops[in->op].units && !(isa_ops[in->op].units & 1u << in->unit))
        return "operation in a slot that cannot issue it";
    if (in->cycle >= b->cycles)
        return "operation behind the end of its block";
    if (isa_ops[in->op].flags & ISA_F_BRANCH && in->op == ISA_OP_bra &&
        in->cycle + 1 + ISA_BRANCH_DELAY > b->cycles)
        return "branch without its delay slots";
    for (uint32_t j = 0; j < k; j++) {
        const isa_instr *p = &f->instrs[b->first + j];

        if (p->cycle > in->cycle)
            return "operations out of order";
        if (slot_clash(p, in))
            return "two operations in one slot";
        for (uint32_t s = 0; s < in->n_src; s++)
            if (p->dst != ISA_NO_REG && in->src[s] == p->dst &&
                in->cycle < p->cycle + latency(p))
                return "value read before it is there";
    }
    return NULL;
}

const char *isa_verify(const isa_function *f, uint32_t *block, uint32_t *instr)
{
    for (uint32_t b = 0; b < f->n_blocks; b++) {
        const isa_block *bl = &f->blocks[b];

        if (bl->first > f->n_instrs || bl->n > f->n_instrs - bl->first)
            return "block outside its function";
        for (uint32_t k = 0; k < bl->n; k++) {
            const char *why = verify_instr(f, bl, k);

            if (!why)
                continue;
            if (block)
                *block = b;
            if (instr)
                *instr = k;
            return why;
        }
    }
    return NULL;
}

typedef struct {
    uint8_t *at;
    size_t n, cap;
} sink;

static void put(sink *s, uint32_t v)
{
    if (s->n + 4 <= s->cap)
        for (int i = 0; i < 4; i++)
            s->at[s->n + (size_t)i] = (uint8_t)(v >> 8 * i);
    s->n += 4;
}

size_t isa_encode(const isa_function *fs, uint32_t n, uint8_t *out, size_t cap)
{
    sink s = {out, 0, cap};

    put(&s, 1); /* version of this form */
    put(&s, n);
    for (uint32_t f = 0; f < n; f++) {
        size_t len = strlen(fs[f].name);

        put(&s, (uint32_t)len);
        for (size_t i = 0; i < len; i += 4) {
            uint32_t word = 0;

            for (size_t j = 0; j < 4 && i + j < len; j++)
                word |= (uint32_t)(unsigned char)fs[f].name[i + j] << 8 * j;
            put(&s, word);
        }
        put(&s, fs[f].n_blocks);
        for (uint32_t b = 0; b < fs[f].n_blocks; b++) {
            const isa_block *bl = &fs[f].blocks[b];

            put(&s, bl->cycles);
            put(&s, bl->n);
            for (uint32_t k = 0; k < bl->n; k++) {
                const isa_instr *in = &fs[f].instrs[bl->first + k];

                put(&s, (uint32_t)in->op | (uint32_t)in->unit << 16 |
                            (uint32_t)in->n_src << 24);
                put(&s, in->dst);
                for (uint32_t i = 0; i < in->n_src; i++)
                    put(&s, in->src[i]);
                put(&s, in->cycle);
                put(&s, in->line);
                put(&s, in->cost);
            }
        }
    }
    return s.n;
}
