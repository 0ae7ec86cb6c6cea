/* The result of any operation: what results.h has for its row. */
#include "isa/results.h"

isa_type isa_computes_in(const isa_instr *in)
{
    isa_type as = (isa_type)isa_ops[in->op].as;

    return as ? as : in->type ? (isa_type)in->type : ISA_U32;
}

static uint32_t of_words(const isa_instr *in, uint32_t x, uint32_t y)
{
    isa_type t = isa_computes_in(in);

    switch ((isa_lanes)isa_ops[in->op].lanes) {
#define LANE(name, value)  \
    case ISA_LANES_##name: \
        return isa_lane_##name(t, in->sub, x, y);
#include "isa/lanes.def"
    }
    return 0;
}

static isa_value of_vectors(const isa_instr *in, const isa_value *x,
                            const isa_value *y)
{
    isa_type t = isa_computes_in(in);

    switch ((isa_lanes)isa_ops[in->op].lanes) {
#define LANE(name, value)  \
    case ISA_LANES_##name: \
        return isa_lanes_##name(t, in->sub, x, y);
#include "isa/lanes.def"
    }
    return *x;
}

static isa_value element_wise(const isa_instr *in, const isa_value *src)
{
    uint32_t r;

    if (isa_dst_class((isa_op)in->op, 0) == 'v')
        return of_vectors(in, &src[0], &src[1]);
    r = of_words(in, isa_word(&src[0]), isa_word(&src[1]));
    return isa_scalar(isa_word_result((isa_lanes)isa_ops[in->op].lanes,
                                      (isa_type)in->type, r));
}

isa_value isa_evaluate(const isa_instr *in, const uint8_t *table,
                       const isa_value src[ISA_MAX_SRC])
{
    const isa_shape s = {.t = isa_computes_in(in),
                         .from = (isa_type)in->from,
                         .sub = in->sub,
                         .table = table};

    switch ((isa_whole)isa_ops[in->op].whole) {
    case ISA_WHOLE_none:
        break;
    case ISA_WHOLE_select:
        return isa_whole_select(&s, src);
    case ISA_WHOLE_select_bits:
        return isa_whole_select_bits(&s, src);
    case ISA_WHOLE_convert:
        return isa_whole_convert(&s, src);
    case ISA_WHOLE_widen:
        return isa_whole_widen(&s, src);
    case ISA_WHOLE_narrow:
        return isa_whole_narrow(&s, src);
    case ISA_WHOLE_move:
        return isa_whole_move(&s, src);
    case ISA_WHOLE_splat:
        return isa_whole_splat(&s, src);
    case ISA_WHOLE_extract:
        return isa_whole_extract(&s, src);
    case ISA_WHOLE_extract_by:
        return isa_whole_extract_by(&s, src);
    case ISA_WHOLE_insert:
        return isa_whole_insert(&s, src);
    case ISA_WHOLE_insert_by:
        return isa_whole_insert_by(&s, src);
    case ISA_WHOLE_shuffle:
        return isa_whole_shuffle(&s, src);
    case ISA_WHOLE_reduce:
        return isa_whole_reduce(&s, src);
    case ISA_WHOLE_top_bits:
        return isa_whole_top_bits(&s, src);
    case ISA_WHOLE_constant:
        return isa_whole_constant(&s, src);
    }
    return element_wise(in, src);
}
