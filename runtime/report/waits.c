/* Reasons, strongest first: results, calls, units, the block's shape, order. */
#include "runtime/report/waits.h"

typedef struct {
    const isa_function *f;
    const isa_block *b;
    const isa_instr *ops; /* of the block */
    uint32_t ii;          /* of a pipelined kernel, else 0 */
    str *out;
} place;

static place at(const isa_function *f, uint32_t block, str *out)
{
    const isa_block *b = &f->blocks[block];

    return (place){f, b, f->instrs + b->first,
                   b->kind == ISA_KERNEL ? b->cycles : 0, out};
}

static const isa_op_info *row(const isa_instr *in)
{
    return &isa_ops[in->op];
}

static bool same(isa_operand a, isa_operand b)
{
    return (a.kind == ISA_I || a.kind == ISA_V) && a.kind == b.kind &&
           a.number == b.number;
}

static uint32_t latency(const isa_instr *in, unsigned dst)
{
    return dst ? 1 : row(in)->lat;
}

/* Does what happens at cycle x happen at cycle t? Kernels come round. */
static bool meets(const place *p, uint64_t x, uint32_t t)
{
    return p->ii ? x >= t && (x - t) % p->ii == 0 : x == t;
}

static void name_result(const place *p, const isa_instr *e, unsigned dst)
{
    str_printf(p->out, "%c%u (%s at %u, %u)",
               e->dst[dst].kind == ISA_V ? 'v' : 'i', e->dst[dst].number,
               row(e)->name, e->cycle, latency(e, dst));
}

/* A source whose value arrives at the very cycle. */
static bool result(const place *p, const isa_instr *in)
{
    for (uint32_t k = 0; k < p->b->n_instrs; k++)
        for (unsigned d = 0; d < ISA_MAX_DST; d++) {
            const isa_instr *e = &p->ops[k];

            if (!meets(p, (uint64_t)e->cycle + latency(e, d), in->cycle))
                continue;
            for (unsigned s = 0; s < ISA_MAX_SRC; s++)
                if (same(e->dst[d], in->src[s])) {
                    str_puts(p->out, "waits for ");
                    name_result(p, e, d);
                    return true;
                }
        }
    return false;
}

static const char *callee(const place *p, const isa_instr *in)
{
    return row(in)->flags & ISA_F_CALLEE && (uint32_t)in->imm < p->f->n_callees
               ? p->f->callees[in->imm]
               : "";
}

/* A call that ends here, or for a call, what ends here in front of it. */
static bool call(const place *p, const isa_instr *in)
{
    for (uint32_t k = 0; k < p->b->n_instrs; k++) {
        const isa_instr *e = &p->ops[k];

        if (e->cycle >= in->cycle)
            break;
        if (e->cost && e->cycle + e->cost == in->cycle) {
            str_printf(p->out, "waits for call %s (%u)", callee(p, e), e->cost);
            return true;
        }
        if (!(row(in)->flags & ISA_F_SERIAL))
            continue;
        if (isa_n_dst((isa_op)e->op) && e->cycle + latency(e, 0) == in->cycle) {
            str_puts(p->out, "calls once nothing is on its way: ");
            name_result(p, e, 0);
            return true;
        }
        if (!isa_n_dst((isa_op)e->op) && e->cycle + 1 == in->cycle) {
            str_printf(p->out, "calls behind %s at %u", row(e)->name, e->cycle);
            return true;
        }
    }
    return false;
}

/* Units an operation takes, as a mask. */
static unsigned taken(const isa_instr *in)
{
    return row(in)->all_units ? row(in)->units
           : row(in)->units   ? 1u << in->unit
                              : 0;
}

static const char *units_name(unsigned mask)
{
    unsigned lsus = 1u << ISA_UNIT_LSU0 | 1u << ISA_UNIT_LSU1;
    unsigned u = 0;

    if (mask == lsus)
        return "LSU";
    while (u + 1 < ISA_N_UNITS && !(mask >> u & 1))
        u++;
    return isa_unit_names[u];
}

/* Its units in the cycle before. */
static bool unit(const place *p, const isa_instr *in)
{
    unsigned mask = row(in)->units, held = 0;
    uint32_t t = in->cycle ? in->cycle - 1 : p->ii - 1;
    const isa_instr *by = NULL;

    if (!mask || (!in->cycle && !p->ii))
        return false;
    for (uint32_t k = 0; k < p->b->n_instrs; k++) {
        const isa_instr *e = &p->ops[k];

        if (e != in && taken(e) & mask && e->cycle <= t &&
            t - e->cycle < row(e)->interval) {
            held |= taken(e) & mask;
            by = row(e)->interval > 1 ? e : by;
        }
    }
    if (row(in)->all_units ? !held : held != mask)
        return false;
    str_printf(p->out, "%s busy", units_name(mask));
    if (by)
        str_printf(p->out, " (%s at %u, %u)", row(by)->name, by->cycle,
                   row(by)->interval);
    return true;
}

/* What the block's last bundle is for: a result, or a call. */
static bool block_end(const place *p, const isa_instr *branch)
{
    const char *why = branch ? "its slots end with the block: " : "until ";

    for (uint32_t k = 0; k < p->b->n_instrs; k++) {
        const isa_instr *e = &p->ops[k];

        if (e->cost && e->cycle + e->cost == p->b->cycles) {
            str_printf(p->out, "%scall %s (%u)", why, callee(p, e), e->cost);
            return true;
        }
        if (isa_n_dst((isa_op)e->op) &&
            e->cycle + latency(e, 0) == p->b->cycles) {
            str_puts(p->out, why);
            name_result(p, e, 0);
            return true;
        }
        if (branch && e->cycle + 1 == p->b->cycles) {
            str_printf(p->out, "%s%s at %u", why, row(e)->name, e->cycle);
            return true;
        }
    }
    return false;
}

static bool branch(const place *p, const isa_instr *in)
{
    return row(in)->flags & ISA_F_BRANCH && in->cycle && block_end(p, in);
}

static bool is_access(const isa_instr *in)
{
    return row(in)->flags & (ISA_F_LOAD | ISA_F_STORE);
}

static bool is_store(const isa_instr *in)
{
    return row(in)->flags & ISA_F_STORE;
}

/* The access before this one in the program that it may not pass. */
static bool memory(const place *p, const isa_instr *in)
{
    for (uint32_t k = 0; k < p->b->n_instrs && is_access(in); k++) {
        const isa_instr *e = &p->ops[k];

        if (e->cycle + 1 != in->cycle || e->seq > in->seq || !is_access(e) ||
            (e->sub == ISA_GLOBAL) != (in->sub == ISA_GLOBAL) ||
            (!is_store(e) && !is_store(in)))
            continue;
        str_printf(p->out, "memory order: %s at %u", row(e)->name, e->cycle);
        return true;
    }
    return false;
}

/* The register it writes is read, or written, until here. */
static bool old_value(const place *p, const isa_instr *in)
{
    for (uint32_t k = 0; k < p->b->n_instrs; k++) {
        const isa_instr *e = &p->ops[k];

        for (unsigned d = 0; d < ISA_MAX_DST && e != in; d++) {
            bool order =
                e->cycle < in->cycle &&
                e->cycle + latency(e, 0) + 1 == in->cycle + latency(in, d) &&
                same(e->dst[0], in->dst[d]);

            for (unsigned s = 0; s < ISA_MAX_SRC; s++)
                order |= e->cycle == in->cycle && e->seq < in->seq &&
                         same(e->src[s], in->dst[d]);
            if (!order)
                continue;
            str_printf(p->out, "%c%u is in use",
                       in->dst[d].kind == ISA_V ? 'v' : 'i', in->dst[d].number);
            return true;
        }
    }
    return false;
}

bool waits_of_op(const isa_function *f, uint32_t block, uint32_t k, str *out)
{
    place p = at(f, block, out);
    const isa_instr *in = &f->instrs[k];

    if (result(&p, in) || call(&p, in) || unit(&p, in) || branch(&p, in))
        return true;
    if (p.b->kind != ISA_PLAIN || !in->cycle)
        return false;
    if (!memory(&p, in) && !old_value(&p, in))
        str_puts(out, "held back, to save registers");
    return false;
}

static void cut(str *s, size_t n)
{
    s->n = n;
    if (s->data)
        s->data[n] = 0;
}

static void gap(const isa_function *f, uint32_t block, uint32_t from, str *out)
{
    place p = at(f, block, out);
    const isa_instr *next = NULL;
    size_t start = out->n;

    for (uint32_t k = p.b->n_instrs; k-- > 0;) {
        if (p.ops[k].cycle >= from) {
            next = &p.ops[k];
        } else if (row(&p.ops[k])->flags & ISA_F_BRANCH) {
            str_puts(out, p.ops[k].op == ISA_OP_rep
                              ? "before the repeated block"
                              : "branch slots");
            return;
        }
    }
    if (!next) {
        block_end(&p, NULL);
        return;
    }
    /* The bundle's first operation that could not come, branches last: they
     * only follow the block's end. Else any reason. */
    for (int branches = 0; branches < 2; branches++)
        for (uint32_t k = (uint32_t)(next - f->instrs);
             k < p.b->first + p.b->n_instrs &&
             f->instrs[k].cycle == next->cycle;
             k++) {
            bool is_branch = row(&f->instrs[k])->flags & ISA_F_BRANCH;

            cut(out, start);
            if (is_branch == branches && waits_of_op(f, block, k, out))
                return;
        }
    cut(out, start);
    waits_of_op(f, block, (uint32_t)(next - f->instrs), out);
}

void waits_of_gap(const isa_function *f, uint32_t block, uint32_t from,
                  str *out)
{
    size_t start = out->n;

    gap(f, block, from, out);
    if (out->n == start && f->blocks[block].kind != ISA_PLAIN)
        str_puts(out, "the pipelined loop's pace");
}
