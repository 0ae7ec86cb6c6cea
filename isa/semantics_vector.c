/* Whole operations: lanes, reductions, shuffles, and which rows are what. */
#include "isa/semantics.h"

#include <string.h>

uint32_t isa_get_lane(const isa_value *v, unsigned bytes, unsigned k)
{
    uint32_t bits = 0;

    for (unsigned b = 0; b < bytes; b++)
        bits |= (uint32_t)v->byte[k * bytes + b] << 8 * b;
    return bits;
}

void isa_set_lane(isa_value *v, unsigned bytes, unsigned k, uint32_t bits)
{
    for (unsigned b = 0; b < bytes; b++)
        v->byte[k * bytes + b] = (uint8_t)(bits >> 8 * b);
}

static uint32_t word(const isa_value *v)
{
    return isa_get_lane(v, 4, 0);
}

static isa_value scalar(uint32_t bits)
{
    isa_value v = {0};

    isa_set_lane(&v, 4, 0, bits);
    return v;
}

static isa_value splat(unsigned bytes, uint32_t bits)
{
    isa_value v;

    for (unsigned k = 0; k < ISA_VECTOR_BYTES / bytes; k++)
        isa_set_lane(&v, bytes, k, bits);
    return v;
}

/* --- lanes --------------------------------------------------------------- */

static unsigned lane_bytes(const isa_instr *in)
{
    return isa_type_bytes(isa_computes_in(in));
}

enum { MAX_LANES = ISA_VECTOR_BYTES };

static isa_value each_lane(const isa_instr *in, const isa_value *a,
                           const isa_value *b)
{
    isa_type t = isa_computes_in(in);
    unsigned bytes = isa_type_bytes(t), n = ISA_VECTOR_BYTES / bytes;
    uint32_t x[MAX_LANES], y[MAX_LANES];
    isa_value v;

    for (unsigned k = 0; k < n; k++) {
        x[k] = isa_get_lane(a, bytes, k);
        y[k] = isa_get_lane(b, bytes, k);
    }
    isa_elements(in, t, n, x, y, x);
    for (unsigned k = 0; k < n; k++)
        isa_set_lane(&v, bytes, k, x[k]);
    return v;
}

/* A reduction is the element-wise operation, lane after lane. */
static uint32_t reduce(const isa_instr *in, const isa_value *a)
{
    bool real = in->type == ISA_F16 || in->type == ISA_F32;
    const uint8_t ops[ISA_N_REDUCES] = {
        [ISA_SUM] = real ? ISA_OP_fadd : ISA_OP_vadd,
        [ISA_PRODUCT] = real ? ISA_OP_fmul : ISA_OP_vmul,
        [ISA_ALL] = ISA_OP_vand,
        [ISA_ANY] = ISA_OP_vor,
        [ISA_PARITY] = ISA_OP_vxor,
        [ISA_LEAST] = ISA_OP_vmin,
        [ISA_MOST] = ISA_OP_vmax};
    isa_instr step = {.op = ops[in->sub], .type = in->type};
    isa_type t = isa_computes_in(&step);
    unsigned bytes = isa_type_bytes((isa_type)in->type);
    uint32_t r = isa_get_lane(a, bytes, 0);

    for (unsigned k = 1; k < ISA_VECTOR_BYTES / bytes; k++) {
        uint32_t next = isa_get_lane(a, bytes, k);

        isa_elements(&step, t, 1, &r, &next, &r);
    }
    return isa_extend((isa_type)in->type, r);
}

static isa_value widen(const isa_instr *in, const isa_value *a)
{
    unsigned to = isa_type_bytes((isa_type)in->type);
    unsigned from = isa_type_bytes((isa_type)in->from);
    unsigned n = ISA_VECTOR_BYTES / to;
    isa_value v;

    for (unsigned k = 0; k < n; k++)
        isa_set_lane(&v, to, k,
                     isa_convert((isa_type)in->type, (isa_type)in->from,
                                 isa_get_lane(a, from, in->sub * n + k)));
    return v;
}

static isa_value narrow(const isa_instr *in, const isa_value *a, isa_value v)
{
    unsigned to = isa_type_bytes((isa_type)in->type);
    unsigned from = isa_type_bytes((isa_type)in->from);
    unsigned n = ISA_VECTOR_BYTES / from;

    for (unsigned k = 0; k < n; k++)
        isa_set_lane(&v, to, in->sub * n + k,
                     isa_convert((isa_type)in->type, (isa_type)in->from,
                                 isa_get_lane(a, from, k)));
    return v;
}

static isa_value shuffle(const uint8_t *table, const isa_value *a,
                         const isa_value *b)
{
    isa_value v;

    for (unsigned k = 0; k < ISA_VECTOR_BYTES; k++)
        v.byte[k] = table[k] < 16   ? a->byte[table[k]]
                    : table[k] < 32 ? b->byte[table[k] - 16]
                                    : 0;
    return v;
}

static isa_value select_bits(const isa_value *m, const isa_value *a,
                             const isa_value *b)
{
    isa_value v;

    for (unsigned k = 0; k < ISA_VECTOR_BYTES; k++)
        v.byte[k] =
            (uint8_t)((m->byte[k] & a->byte[k]) | (~m->byte[k] & b->byte[k]));
    return v;
}

static uint32_t top_bits(unsigned bytes, const isa_value *a)
{
    uint32_t r = 0;

    for (unsigned k = 0; k < ISA_VECTOR_BYTES / bytes; k++)
        r |= (uint32_t)(a->byte[(k + 1) * bytes - 1] >> 7) << k;
    return r;
}

static isa_value insert(isa_value v, unsigned bytes, uint32_t k, uint32_t bits)
{
    isa_set_lane(&v, bytes, k % (ISA_VECTOR_BYTES / bytes), bits);
    return v;
}

static uint32_t extract(const isa_value *v, unsigned bytes, uint32_t k)
{
    return isa_get_lane(v, bytes, k % (ISA_VECTOR_BYTES / bytes));
}

/* --- rows ---------------------------------------------------------------- */

/* Is a scalar result a word, whatever the type looked at? */
static bool gives_word(const isa_instr *in)
{
    return !in->type || isa_ops[in->op].lanes == ISA_LANES_compare;
}

static isa_value element_wise(const isa_instr *in, const isa_value *src)
{
    uint32_t r, x = word(&src[0]), y = word(&src[1]);

    if (isa_dst_class((isa_op)in->op, 0) == 'v')
        return each_lane(in, &src[0], &src[1]);
    isa_elements(in, isa_computes_in(in), 1, &x, &y, &r);
    return scalar(gives_word(in) ? r : isa_extend((isa_type)in->type, r));
}

static isa_value constant(const uint8_t *table)
{
    isa_value v;

    memcpy(v.byte, table, sizeof v.byte);
    return v;
}

isa_value isa_evaluate(const isa_instr *in, const uint8_t *table,
                       const isa_value src[ISA_MAX_SRC])
{
    unsigned bytes = lane_bytes(in);

    switch ((isa_whole)isa_ops[in->op].whole) {
    case ISA_WHOLE_none:
        break;
    case ISA_WHOLE_select:
        return word(&src[0]) ? src[1] : src[2];
    case ISA_WHOLE_select_bits:
        return select_bits(&src[0], &src[1], &src[2]);
    case ISA_WHOLE_convert:
        return scalar(
            isa_convert((isa_type)in->type, (isa_type)in->from, word(&src[0])));
    case ISA_WHOLE_widen:
        return widen(in, &src[0]);
    case ISA_WHOLE_narrow:
        return narrow(in, &src[0], src[1]);
    case ISA_WHOLE_move:
        return src[0];
    case ISA_WHOLE_splat:
        return splat(bytes, word(&src[0]));
    case ISA_WHOLE_extract:
        return scalar(extract(&src[0], bytes, in->sub));
    case ISA_WHOLE_extract_by:
        return scalar(extract(&src[0], bytes, word(&src[1])));
    case ISA_WHOLE_insert:
        return insert(src[0], bytes, in->sub, word(&src[1]));
    case ISA_WHOLE_insert_by:
        return insert(src[0], bytes, word(&src[2]), word(&src[1]));
    case ISA_WHOLE_shuffle:
        return shuffle(table, &src[0], &src[1]);
    case ISA_WHOLE_reduce:
        return scalar(reduce(in, &src[0]));
    case ISA_WHOLE_top_bits:
        return scalar(top_bits(bytes, &src[0]));
    case ISA_WHOLE_constant:
        return constant(table);
    }
    return element_wise(in, src);
}
