/* Programs to text. */
#include "isa/text.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct {
    char *out;
    size_t cap, n;
} printer;

static void put(printer *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(printer *p, const char *format, ...)
{
    va_list ap;
    int n;

    va_start(ap, format);
    n = p->n < p->cap ? vsnprintf(p->out + p->n, p->cap - p->n, format, ap)
                      : vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    p->n += n > 0 ? (size_t)n : 0;
}

static void put_name(printer *p, const char *s)
{
    put(p, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;

        if (c < 32 || c > 126 || c == '"' || c == '\\')
            put(p, "\\%02x", c);
        else
            put(p, "%c", c);
    }
    put(p, "\"");
}

/* Small numbers in decimal, addresses and bit patterns in hex. */
static void put_immediate(printer *p, uint32_t n)
{
    int64_t v = (int32_t)n;

    if (v > -65536 && v < 65536)
        put(p, "%lld", (long long)v);
    else
        put(p, "0x%x", n);
}

static void put_operand(printer *p, isa_operand x)
{
    switch (x.kind) {
    case ISA_I:
        put(p, "i%u", x.number);
        break;
    case ISA_V:
        put(p, "v%u", x.number);
        break;
    case ISA_SP:
        put(p, "sp");
        break;
    case ISA_IMM:
        put_immediate(p, x.number);
        break;
    default:
        put(p, "_");
    }
}

static void put_address(printer *p, isa_operand base, int32_t offset)
{
    put(p, "[");
    put_operand(p, base);
    if (offset)
        put(p, " %c %llu", offset < 0 ? '-' : '+',
            offset < 0 ? 0ull - (unsigned long long)offset
                       : (unsigned long long)offset);
    put(p, "]");
}

static void put_sub(printer *p, const isa_instr *in)
{
    switch (isa_ops[in->op].sub) {
    case ISA_SUB_SPACE:
        put(p, ".%s", isa_space_names[in->sub]);
        break;
    case ISA_SUB_COND:
        put(p, ".%s", isa_cond_names[in->sub]);
        break;
    case ISA_SUB_ROUND:
        put(p, ".%s", isa_round_names[in->sub]);
        break;
    case ISA_SUB_REDUCE:
        put(p, ".%s", isa_reduce_names[in->sub]);
        break;
    case ISA_SUB_SENSE:
        put(p, in->sub ? ".nz" : ".z");
        break;
    case ISA_SUB_LANE:
    case ISA_SUB_GROUP:
        put(p, ".%u", in->sub);
        break;
    default: /* none; an area is named where imm is */
        break;
    }
}

/* What imm is the number of, when it is no address's offset. */
static const char *indexed(const isa_instr *in)
{
    switch (isa_ops[in->op].flags &
            (ISA_F_OFFSET | ISA_F_TABLE | ISA_F_CALLEE | ISA_F_TARGET)) {
    case ISA_F_TABLE:
        return "vector";
    case ISA_F_CALLEE:
        return "callee";
    case ISA_F_TARGET:
        return "block";
    case ISA_F_OFFSET:
        return in->op == ISA_OP_ldarg   ? isa_area_names[in->sub]
               : in->op == ISA_OP_starg ? "arg"
               : in->op == ISA_OP_ldret ? "ret"
                                        : NULL;
    default:
        return NULL;
    }
}

static void put_operands(printer *p, const isa_instr *in)
{
    unsigned n_dst = isa_n_dst((isa_op)in->op);
    unsigned n_src = isa_n_src((isa_op)in->op);
    unsigned flags = isa_ops[in->op].flags;
    unsigned address = flags & ISA_F_LOAD    ? 0
                       : flags & ISA_F_STORE ? 1
                                             : ISA_MAX_SRC;
    const char *sep = " ", *what = indexed(in);

    for (unsigned k = 0; k < n_dst; k++, sep = ", ") {
        put(p, "%s", sep);
        put_operand(p, in->dst[k]);
    }
    for (unsigned k = 0; k < n_src; k++, sep = ", ") {
        put(p, "%s", sep);
        if (k == address)
            put_address(p, in->src[k], in->imm);
        else
            put_operand(p, in->src[k]);
    }
    if (what)
        put(p, "%s%s[%d]", sep, what, in->imm);
}

static void put_op(printer *p, const isa_instr *in)
{
    const isa_op_info *row = &isa_ops[in->op];

    if (in->predicated)
        put(p, "?");
    if (row->units)
        put(p, "%s.", isa_unit_names[in->unit]);
    put(p, "%s", row->name);
    if (row->types)
        put(p, ".%s", isa_type_names[in->type]);
    if (row->flags & ISA_F_FROM)
        put(p, ".%s", isa_type_names[in->from]);
    put_sub(p, in);
    put_operands(p, in);
}

static void put_marks(printer *p, const isa_instr *in)
{
    put(p, "#%u", in->seq);
    if (in->line || in->col)
        put(p, " @%u:%u", in->line, in->col);
    if (in->stage)
        put(p, " ^%u", in->stage);
    if (in->cost)
        put(p, " cost=%u", in->cost);
}

/* Empty bundles from..to-1. */
static void put_empty(printer *p, uint64_t from, uint64_t to)
{
    if (to > from + 1)
        put(p, "  %llu..%llu: -\n", (unsigned long long)from,
            (unsigned long long)to - 1);
    else if (to > from)
        put(p, "  %llu: -\n", (unsigned long long)from);
}

static void put_block_line(printer *p, const isa_function *f, uint32_t n)
{
    static const char *const kinds[] = {"plain", "prologue", "kernel",
                                        "epilogue"};
    const isa_block *b = &f->blocks[n];

    put(p, "block %u %s cycles=%u stages=%u\n", n, kinds[b->kind], b->cycles,
        b->n_stages);
}

static void put_block(printer *p, const isa_function *f, uint32_t n)
{
    const isa_block *b = &f->blocks[n];
    uint64_t next = 0;

    put_block_line(p, f, n);
    for (uint32_t k = 0; k < b->n_instrs; k++) {
        const isa_instr *in = &f->instrs[b->first + k];

        if (k && in[-1].cycle == in->cycle) {
            put(p, " || ");
        } else {
            put(p, "%s", k ? "\n" : "");
            put_empty(p, next, in->cycle);
            put(p, "  %u: ", in->cycle);
        }
        put_op(p, in);
        put(p, " ");
        put_marks(p, in);
        next = (uint64_t)in->cycle + 1;
    }
    put(p, "%s", b->n_instrs ? "\n" : "");
    put_empty(p, next, b->cycles);
}

static printer start(char *out, size_t cap)
{
    if (cap)
        *out = 0;
    return (printer){out, cap, 0};
}

static void put_head(printer *p, const isa_function *f)
{
    put(p, "function ");
    put_name(p, f->name);
    put(p, " private=%u spills=%u\n", f->private_bytes, f->n_spills);
    for (uint32_t k = 0; k < f->n_vectors; k++) {
        put(p, "vector %u: ", k);
        for (unsigned b = 0; b < ISA_VECTOR_BYTES; b++)
            put(p, "%02x", f->vectors[k][b]);
        put(p, "\n");
    }
    for (uint32_t k = 0; k < f->n_callees; k++) {
        put(p, "callee %u: ", k);
        put_name(p, f->callees[k]);
        put(p, "\n");
    }
}

size_t isa_print(const isa_function *f, char *out, size_t cap)
{
    printer p = start(out, cap);

    put_head(&p, f);
    for (uint32_t k = 0; k < f->n_blocks; k++)
        put_block(&p, f, k);
    return p.n;
}

size_t isa_print_head(const isa_function *f, char *out, size_t cap)
{
    printer p = start(out, cap);

    put_head(&p, f);
    return p.n;
}

size_t isa_print_block(const isa_function *f, uint32_t block, char *out,
                       size_t cap)
{
    printer p = start(out, cap);

    put_block_line(&p, f, block);
    return p.n;
}

size_t isa_print_op(const isa_instr *in, char *out, size_t cap)
{
    printer p = start(out, cap);

    put_op(&p, in);
    return p.n;
}

size_t isa_print_marks(const isa_instr *in, char *out, size_t cap)
{
    printer p = start(out, cap);

    put_marks(&p, in);
    return p.n;
}
