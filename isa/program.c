/* The verifier: one check per rule, each asked about every operation. */
#include "isa/program.h"

typedef struct {
    const isa_function *f;
    const isa_block *b;
    const isa_instr *in; /* of the block */
    uint32_t number;     /* of the block */
    bool is_virtual;
} place;

static const isa_op_info *row(const isa_instr *in)
{
    return &isa_ops[in->op];
}

/* Types a typed operation knows: bits are no floats' matter. */
static unsigned types_of(const isa_instr *in)
{
    const unsigned floats = 1u << ISA_F16 | 1u << ISA_F32;
    bool of_bits =
        row(in)->sub == ISA_SUB_REDUCE &&
        (in->sub == ISA_ALL || in->sub == ISA_ANY || in->sub == ISA_PARITY);

    return of_bits ? row(in)->types & ~floats : row(in)->types;
}

/* --- one operation ------------------------------------------------------- */

static const char *known(const place *p, uint32_t k)
{
    return p->in[k].op < ISA_N_OPS ? NULL : "there is no such operation";
}

static const char *unit(const place *p, uint32_t k)
{
    const isa_instr *in = &p->in[k];
    bool ok = in->unit < ISA_N_UNITS && row(in)->units >> in->unit & 1;

    if (!row(in)->units)
        ok = !in->unit;
    /* A pair is named after its first half. */
    if (row(in)->all_units && in->unit && row(in)->units >> (in->unit - 1) & 1)
        ok = false;
    return ok ? NULL : "that unit does not issue this operation";
}

static bool fits(char class, isa_operand x, bool source)
{
    switch (x.kind) {
    case ISA_NONE:
        return !class && !x.number;
    case ISA_I:
        return class == 'i' || class == 'j';
    case ISA_V:
        return class == 'v';
    case ISA_SP: /* read like an I register */
        return source && (class == 'i' || class == 'j') && !x.number;
    case ISA_IMM:
        return class == 'j';
    default:
        return false;
    }
}

static const char *operands(const place *p, uint32_t k)
{
    const isa_instr *in = &p->in[k];
    unsigned n_dst = isa_n_dst((isa_op)in->op);
    unsigned n_src = isa_n_src((isa_op)in->op);

    for (unsigned i = 0; i < ISA_MAX_DST; i++)
        if (!fits(i < n_dst ? isa_dst_class((isa_op)in->op, i) : 0, in->dst[i],
                  false))
            return "a result is not of the operation's form";
    for (unsigned i = 0; i < ISA_MAX_SRC; i++)
        if (!fits(i < n_src ? isa_src_class((isa_op)in->op, i) : 0, in->src[i],
                  true))
            return "a source is not of the operation's form";
    return NULL;
}

static bool exists(isa_operand x)
{
    return (x.kind != ISA_I || x.number < ISA_N_IREGS) &&
           (x.kind != ISA_V || x.number < ISA_N_VREGS);
}

static const char *registers(const place *p, uint32_t k)
{
    const isa_instr *in = &p->in[k];
    bool ok = true;

    for (unsigned i = 0; i < ISA_MAX_DST; i++)
        ok &= exists(in->dst[i]);
    for (unsigned i = 0; i < ISA_MAX_SRC; i++)
        ok &= exists(in->src[i]);
    return ok || p->is_virtual ? NULL : "the machine has no such register";
}

static const char *types(const place *p, uint32_t k)
{
    const isa_instr *in = &p->in[k];
    bool typed = row(in)->types;
    bool from = row(in)->flags & ISA_F_FROM;
    unsigned to_bytes, from_bytes;

    if (typed ? in->type >= ISA_N_TYPES || !(types_of(in) >> in->type & 1)
              : in->type)
        return "a type the operation does not know";
    if (from ? in->from >= ISA_N_TYPES || !(ISA_ANY_TYPE >> in->from & 1)
             : in->from)
        return "a source type the operation does not know";
    to_bytes = isa_type_bytes((isa_type)in->type);
    from_bytes = isa_type_bytes((isa_type)in->from);
    if (in->op == ISA_OP_vcvt && to_bytes < from_bytes)
        return "vcvt to narrower lanes";
    if (in->op == ISA_OP_vcvtn && to_bytes >= from_bytes)
        return "vcvtn to lanes that are not narrower";
    return NULL;
}

static unsigned n_subs(const isa_instr *in)
{
    unsigned to = isa_type_bytes((isa_type)in->type);
    unsigned from = isa_type_bytes((isa_type)in->from);

    switch (row(in)->sub) {
    case ISA_SUB_COND: /* integers are never unordered */
        return in->type == ISA_F16 || in->type == ISA_F32 ? ISA_N_CONDS
                                                          : ISA_GE + 1;
    case ISA_SUB_LANE:
        return ISA_VECTOR_BYTES / to;
    case ISA_SUB_GROUP:
        return to > from ? to / from : from / to;
    default:
        return isa_n_subs((isa_op)in->op);
    }
}

static const char *sub(const place *p, uint32_t k)
{
    return p->in[k].sub < n_subs(&p->in[k]) ? NULL
                                            : "a modifier out of its range";
}

static bool is_shuffle_table(const uint8_t t[ISA_VECTOR_BYTES])
{
    bool ok = true;

    for (unsigned i = 0; i < ISA_VECTOR_BYTES; i++)
        ok &= t[i] < 2 * ISA_VECTOR_BYTES || t[i] == 255;
    return ok;
}

static const char *immediate(const place *p, uint32_t k)
{
    const isa_instr *in = &p->in[k];
    uint32_t n = (uint32_t)in->imm;

    switch (row(in)->flags &
            (ISA_F_OFFSET | ISA_F_TABLE | ISA_F_CALLEE | ISA_F_TARGET)) {
    case ISA_F_TABLE:
        if (n >= p->f->n_vectors)
            return "there is no such vector";
        return in->op != ISA_OP_vshuf || is_shuffle_table(p->f->vectors[n])
                   ? NULL
                   : "a shuffle of bytes that are not there";
    case ISA_F_CALLEE:
        return n < p->f->n_callees ? NULL : "there is no such callee";
    case ISA_F_TARGET:
        return n < p->f->n_blocks ? NULL : "there is no such block";
    case ISA_F_OFFSET:
        if ((in->op == ISA_OP_starg && n >= ISA_MAX_CALL_ARGS) ||
            (in->op == ISA_OP_ldret && n >= ISA_MAX_CALL_RETS) ||
            (in->op == ISA_OP_ldarg && in->imm < 0))
            return "there is no such argument or result";
        return NULL;
    default:
        return in->imm ? "an immediate the operation has no use for" : NULL;
    }
}

/* --- in its block -------------------------------------------------------- */

static const char *order(const place *p, uint32_t k)
{
    const isa_instr *in = &p->in[k];

    if (in->cycle >= p->b->cycles)
        return "issues behind its block's end";
    if (k && (in[-1].cycle > in->cycle ||
              (in[-1].cycle == in->cycle && in[-1].unit > in->unit)))
        return "operations are not in order";
    return NULL;
}

static unsigned slots(const isa_instr *in)
{
    if (!row(in)->units)
        return 0;
    return row(in)->all_units ? row(in)->units : 1u << in->unit;
}

static const char *slot(const place *p, uint32_t k)
{
    static const char why[] = "its slot is taken";
    const isa_instr *in = &p->in[k];
    uint32_t ii = p->b->kind == ISA_KERNEL ? p->b->cycles : 0;

    for (uint32_t j = k; j-- > 0;) {
        const isa_instr *e = &p->in[j];

        if (in->cycle - e->cycle >= ISA_MAX_WAIT)
            break;
        if (in->cycle - e->cycle < row(e)->interval && slots(in) & slots(e))
            return why;
    }
    if (!ii)
        return NULL;
    /* It comes again ii cycles later, and so do those in front of it. */
    if (slots(in) && row(in)->interval > ii)
        return why;
    for (uint32_t j = 0; j < k; j++) {
        const isa_instr *e = &p->in[j];

        if (slots(in) & slots(e) &&
            ii - (in->cycle - e->cycle) < row(in)->interval)
            return why;
    }
    return NULL;
}

static const char *predicate(const place *p, uint32_t k)
{
    const isa_instr *in = &p->in[k];
    uint32_t first = k, n = 0;

    if (!in->predicated)
        return NULL;
    if (in->op == ISA_OP_pred)
        return "a predicate cannot be predicated";
    while (first && p->in[first - 1].cycle == in->cycle)
        first--;
    for (; first < p->b->n_instrs && p->in[first].cycle == in->cycle; first++)
        n += p->in[first].op == ISA_OP_pred;
    return n ? NULL : "its bundle has no predicate";
}

static const char *branch(const place *p, uint32_t k)
{
    const isa_instr *in = &p->in[k];
    uint32_t left = p->b->cycles - in->cycle - 1;
    bool is_rep = in->op == ISA_OP_rep;

    if (!(row(in)->flags & ISA_F_BRANCH))
        return NULL;
    for (uint32_t j = 0; j < k; j++)
        if (row(&p->in[j])->flags & ISA_F_BRANCH)
            return "a second branch";
    if (!is_rep)
        return left == ISA_BRANCH_DELAY
                   ? NULL
                   : "its delay slots do not end with the block";
    if (p->number + 1 >= p->f->n_blocks)
        return "no block to repeat";
    return left >= ISA_REP_DELAY ? NULL : "too close to the block it repeats";
}

static const char *repeated(const place *p, uint32_t k)
{
    const isa_block *before = p->b - 1;

    if (!p->number || !(row(&p->in[k])->flags & ISA_F_BRANCH))
        return NULL;
    for (uint32_t j = 0; j < before->n_instrs; j++)
        if (p->f->instrs[before->first + j].op == ISA_OP_rep)
            return "a branch in a repeated block";
    return NULL;
}

static const char *serial(const place *p, uint32_t k)
{
    const isa_instr *in = &p->in[k];

    if (!(row(in)->flags & ISA_F_SERIAL))
        return in->cost ? "a cost that is not a call's" : NULL;
    if (p->b->kind != ISA_PLAIN)
        return "a call in a pipelined loop";
    if (in->cost > p->b->cycles - in->cycle)
        return "its block ends during a call";
    while (++k < p->b->n_instrs && p->in[k].cycle == in->cycle)
        continue;
    return k < p->b->n_instrs && p->in[k].cycle - in->cycle < in->cost
               ? "something issues during a call"
               : NULL;
}

static const char *stage(const place *p, uint32_t k)
{
    if (p->b->kind == ISA_PLAIN)
        return p->in[k].stage ? "a stage outside a pipelined loop" : NULL;
    return p->in[k].stage < p->b->n_stages ? NULL : "there is no such stage";
}

/* --- the exposed pipeline ------------------------------------------------ */

static uint32_t lands(const isa_instr *in, unsigned dst)
{
    return in->cycle + (dst ? 1 : row(in)->lat);
}

static bool is_reg(isa_operand x)
{
    return x.kind == ISA_I || x.kind == ISA_V;
}

static bool same(isa_operand a, isa_operand b)
{
    return is_reg(a) && a.kind == b.kind && a.number == b.number;
}

/* What operation k makes of a result that e, issued no later, still owes. */
static const char *owed(const isa_instr *e, unsigned d, const isa_instr *in)
{
    if (e->cycle < in->cycle && lands(e, d) > in->cycle)
        for (unsigned s = 0; s < ISA_MAX_SRC; s++)
            if (same(e->dst[d], in->src[s]))
                return "reads a register before its value is there";
    for (unsigned w = 0; w < ISA_MAX_DST; w++)
        if (same(e->dst[d], in->dst[w]) &&
            (e->cycle == in->cycle || lands(e, d) >= lands(in, w)))
            return "an earlier result lands on top of it";
    return NULL;
}

static const char *in_flight(const place *p, uint32_t k)
{
    const isa_instr *in = &p->in[k];
    const char *why = NULL;

    if (same(in->dst[0], in->dst[1]))
        return "two results in one register";
    if (p->b->kind != ISA_PLAIN)
        return NULL;
    for (uint32_t j = k; j-- > 0 && !why;) {
        const isa_instr *e = &p->in[j];

        if (in->cycle - e->cycle > ISA_MAX_WAIT)
            break;
        if (lands(e, 0) <= in->cycle) /* and a second result has, too */
            continue;
        for (unsigned d = 0; d < ISA_MAX_DST && !why; d++)
            why = owed(e, d, in);
    }
    return why;
}

/* --- blocks -------------------------------------------------------------- */

static bool is_kind(const isa_function *f, uint32_t n, isa_block_kind kind,
                    uint32_t stages)
{
    return n < f->n_blocks && f->blocks[n].kind == kind &&
           f->blocks[n].n_stages == stages;
}

/* A pipelined loop: prologue and epilogue have a step less than there are
 * stages, each as long as the kernel. */
static const char *pipeline(const place *p)
{
    const isa_block *b = p->b;
    uint32_t n = p->number, kernel;

    if (!b->n_stages)
        return "a pipelined loop without stages";
    if (!b->cycles && (b->kind == ISA_KERNEL || b->n_stages > 1))
        return "a pipelined loop without length";
    if (b->kind == ISA_KERNEL) {
        bool framed = n && is_kind(p->f, n - 1, ISA_PROLOGUE, b->n_stages) &&
                      is_kind(p->f, n + 1, ISA_EPILOGUE, b->n_stages);

        return framed || b->n_stages == 1
                   ? NULL
                   : "a kernel without prologue and epilogue";
    }
    if (b->kind == ISA_PROLOGUE
            ? !is_kind(p->f, n + 1, ISA_KERNEL, b->n_stages)
            : !n || !is_kind(p->f, n - 1, ISA_KERNEL, b->n_stages))
        return "a prologue or epilogue without its kernel";
    kernel = b->kind == ISA_PROLOGUE ? n + 1 : n - 1;
    return (uint64_t)(b->n_stages - 1) * p->f->blocks[kernel].cycles <=
                   b->cycles
               ? NULL
               : "a prologue or epilogue shorter than its steps";
}

static const char *shape(const place *p)
{
    const isa_block *b = p->b;
    uint32_t before = p->number ? b[-1].first + b[-1].n_instrs : 0;

    if (b->first != before || b->n_instrs > p->f->n_instrs - before ||
        (p->number + 1 == p->f->n_blocks &&
         before + b->n_instrs != p->f->n_instrs))
        return "blocks do not divide the operations among them";
    if (b->kind > ISA_EPILOGUE)
        return "there is no such kind of block";
    return b->kind == ISA_PLAIN ? NULL : pipeline(p);
}

/* Each may rely on those before it. */
static const char *(*const checks[])(const place *, uint32_t) = {
    known, unit,   operands, registers, types,  sub,   immediate, order,
    slot,  branch, repeated, predicate, serial, stage, in_flight};

static const char *verify_block(const place *p, uint32_t *instr)
{
    const char *why = shape(p);

    *instr = 0;
    for (size_t c = 0; c < sizeof checks / sizeof *checks && !why; c++)
        for (uint32_t k = 0; k < p->b->n_instrs && !why; k++) {
            why = checks[c](p, k);
            *instr = k;
        }
    return why;
}

static const char *verify(const isa_function *f, bool is_virtual,
                          uint32_t *block, uint32_t *instr)
{
    place p = {.f = f, .is_virtual = is_virtual};
    const char *why = NULL;
    uint32_t k = 0;

    if (!f->n_blocks && f->n_instrs)
        why = "operations without a block";
    for (uint32_t n = 0; n < f->n_blocks && !why; n++) {
        p.number = n;
        p.b = &f->blocks[n];
        p.in = f->instrs ? f->instrs + p.b->first : NULL;
        why = verify_block(&p, &k);
    }
    if (block)
        *block = p.number;
    if (instr)
        *instr = k;
    return why;
}

const char *isa_verify(const isa_function *f, uint32_t *block, uint32_t *instr)
{
    return verify(f, false, block, instr);
}

const char *isa_verify_virtual(const isa_function *f, uint32_t *block,
                               uint32_t *instr)
{
    return verify(f, true, block, instr);
}
