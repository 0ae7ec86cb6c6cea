/* The rules of lines.h, one function each. */
#include "isa/lines.h"

#include <string.h>

typedef struct {
    const isa_block *b;
    const isa_instr *ops; /* of the block */
    uint32_t next;        /* the first operation issued after the cycle */
    int64_t t;            /* the cycle asked for; nothing issues in it */
} gap;

static bool same(isa_operand a, isa_operand b)
{
    return (a.kind == ISA_I || a.kind == ISA_V) && a.kind == b.kind &&
           a.number == b.number;
}

static uint32_t of_call(const gap *g)
{
    for (uint32_t k = 0; k < g->next; k++)
        if (g->ops[k].cost && g->ops[k].cycle + (int64_t)g->ops[k].cost > g->t)
            return g->ops[k].line;
    return 0;
}

/* Whether the operation reads what e writes to destination d. */
static bool reads(const isa_instr *in, const isa_instr *e, unsigned d)
{
    for (unsigned s = 0; s < ISA_MAX_SRC; s++)
        if (same(e->dst[d], in->src[s]))
            return true;
    return false;
}

/* Line of the latest result that the bundle at the next operation waits for;
 * back: cycles the operations are earlier than written. */
static uint32_t of_producer(const gap *g, int64_t back, int64_t *latest)
{
    uint32_t line = 0,
             at = g->next < g->b->n_instrs ? g->ops[g->next].cycle : 0;

    for (uint32_t k = 0; k < g->b->n_instrs; k++)
        for (unsigned d = 0; d < isa_n_dst((isa_op)g->ops[k].op); d++) {
            const isa_instr *e = &g->ops[k];
            int64_t issue = (int64_t)e->cycle - back;
            int64_t lands = issue + (d ? 1 : isa_ops[e->op].lat);

            if (issue > g->t || lands <= g->t || lands > at || lands <= *latest)
                continue;
            for (uint32_t n = g->next;
                 n < g->b->n_instrs && g->ops[n].cycle == at; n++)
                if (reads(&g->ops[n], e, d)) {
                    *latest = lands;
                    line = e->line;
                }
        }
    return line;
}

static uint32_t of_result(const gap *g)
{
    int64_t latest = -1;
    uint32_t line = 0, before;

    if (g->next == g->b->n_instrs)
        return 0;
    line = of_producer(g, 0, &latest);
    if (g->b->kind != ISA_KERNEL)
        return line;
    before = of_producer(g, g->b->cycles, &latest);
    return before ? before : line;
}

static uint32_t of_branch(const gap *g)
{
    for (uint32_t k = 0; k < g->next; k++)
        if (isa_ops[g->ops[k].op].flags & ISA_F_BRANCH)
            return g->ops[k].line;
    return 0;
}

static uint32_t of_last_result(const gap *g)
{
    uint32_t line = 0, latest = 0;

    for (uint32_t k = 0; k < g->b->n_instrs; k++) {
        const isa_instr *e = &g->ops[k];
        uint32_t lands = e->cycle + isa_ops[e->op].lat;

        if (e->line && lands >= latest) {
            latest = lands;
            line = e->line;
        }
    }
    return line;
}

/* Of the bundle that begins at operation k. */
static uint32_t of_bundle(const isa_block *b, const isa_instr *ops, uint32_t k)
{
    uint32_t at, line = 0, seq = UINT32_MAX;

    if (k == b->n_instrs)
        return 0;
    at = ops[k].cycle;
    for (; k < b->n_instrs && ops[k].cycle == at; k++)
        if (ops[k].line && ops[k].seq < seq) {
            seq = ops[k].seq;
            line = ops[k].line;
        }
    return line;
}

static void fill_gaps(uint32_t *lines, uint32_t n)
{
    uint32_t first = 0;

    while (first < n && !lines[first])
        first++;
    for (uint32_t t = 0; first < n && t < first; t++)
        lines[t] = lines[first];
    for (uint32_t t = first; t < n; t++)
        if (!lines[t])
            lines[t] = lines[t - 1];
}

void isa_cycle_lines(const isa_function *f, uint32_t block, uint32_t *lines)
{
    const isa_block *b = &f->blocks[block];
    gap g = {.b = b, .ops = f->instrs + b->first};

    for (uint32_t t = 0; t < b->cycles; t++) {
        uint32_t first = g.next;

        while (g.next < b->n_instrs && g.ops[g.next].cycle == t)
            g.next++;
        g.t = t;
        lines[t] = first < g.next ? of_bundle(b, g.ops, first) : 0;
        if (first < g.next)
            continue;
        (void)((lines[t] = of_call(&g)) || (lines[t] = of_result(&g)) ||
               (lines[t] = of_branch(&g)) ||
               (lines[t] = of_bundle(b, g.ops, g.next)) ||
               (lines[t] = of_last_result(&g)));
    }
    fill_gaps(lines, b->cycles);
}
