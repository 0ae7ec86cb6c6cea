/* Steps that compute: for each row of ops.def a function for each of its types,
 * and for each modifier that decides how a result is made. */
#include "isa/steps.h"

/* Class of source k of a form "results:sources" with one result; 0: none. */
#define CLASS_OF(form, k) (sizeof(form) > 3 + (k) ? (form)[2 + (k)] : 0)

ISA_BUILT_IN isa_value source(const isa_machine *m, uint32_t place, char class)
{
    if (class == 'v')
        return isa_get_vector(m, place);
    return isa_scalar(class ? isa_get(m, place) : 0);
}

#define RESULT_LANES(lanes)                                       \
    (vector ? isa_lanes_##lanes(x.t, x.sub, &src[0], &src[1])     \
            : isa_scalar(isa_word_result(                         \
                  ISA_LANES_##lanes, type,                        \
                  isa_lane_##lanes(x.t, x.sub, isa_word(&src[0]), \
                                   isa_word(&src[1])))))
#define RESULT_WHOLE(whole) isa_whole_##whole(&x, src)
#define RESULT_NOT_HERE

/* way: what tells functions of one operation and type apart; the step's
 * extra is the modifier where none does. */
#define FUNCTION(name, form, type_, as, way, sub_, from_, result)          \
    static const isa_step *run_##name##_##type_##_##way(isa_machine *m,    \
                                                        const isa_step *s) \
    {                                                                      \
        const isa_type type = ISA_##type_;                                 \
        const bool vector = (form)[0] == 'v';                              \
        const isa_shape x = {ISA_##as, from_, sub_, m->vectors[s->imm]};   \
        const isa_value src[ISA_MAX_SRC] = {                               \
            source(m, s->a, CLASS_OF(form, 0)),                            \
            source(m, s->b, CLASS_OF(form, 1)),                            \
            source(m, s->c, CLASS_OF(form, 2))};                           \
        const isa_value r = result;                                        \
                                                                           \
        (void)type;                                                        \
        if (vector)                                                        \
            isa_put_vector(m, s->dst, r);                                  \
        else                                                               \
            isa_put(m, s->dst, isa_word(&r));                              \
        return s + 1;                                                      \
    }

/* What a row's types and modifiers are: each of them, as a function. */
#define TYPES_T_NONE(ways, ...) ways(NO_TYPE, U32, __VA_ARGS__)
#define TYPES_T_AS_F16(ways, ...) ways(NO_TYPE, F16, __VA_ARGS__)
#define TYPES_T_AS_F32(ways, ...) ways(NO_TYPE, F32, __VA_ARGS__)
#define TYPES_T_INT32(ways, ...) \
    ways(S32, S32, __VA_ARGS__) ways(U32, U32, __VA_ARGS__)
#define TYPES_T_FLOATS(ways, ...) \
    ways(F16, F16, __VA_ARGS__) ways(F32, F32, __VA_ARGS__)
#define TYPES_T_INTS(ways, ...)                         \
    TYPES_T_INT32(ways, __VA_ARGS__)                    \
    ways(S8, S8, __VA_ARGS__) ways(U8, U8, __VA_ARGS__) \
        ways(S16, S16, __VA_ARGS__) ways(U16, U16, __VA_ARGS__)
#define TYPES_T_ANY(ways, ...) \
    TYPES_T_INTS(ways, __VA_ARGS__) TYPES_T_FLOATS(ways, __VA_ARGS__)

#define PLAIN(type, as, each, name, form, result) \
    each(name, form, type, as, 0, s->extra, ISA_NO_TYPE, result)
#define SUB(way, type, as, each, name, form, result) \
    each(name, form, type, as, way, ISA_##way, ISA_NO_TYPE, result)
#define FROM(way, type, as, each, name, form, result) \
    each(name, form, type, as, way, s->extra, ISA_##way, result)
/* Lists of functions, which nothing separates. */
/* clang-format off */
#define CONDS(...) \
    SUB(EQ, __VA_ARGS__) SUB(NE, __VA_ARGS__) SUB(LT, __VA_ARGS__) \
    SUB(LE, __VA_ARGS__) SUB(GT, __VA_ARGS__) SUB(GE, __VA_ARGS__) \
    SUB(UEQ, __VA_ARGS__) SUB(ONE, __VA_ARGS__) SUB(ULT, __VA_ARGS__) \
    SUB(ULE, __VA_ARGS__) SUB(UGT, __VA_ARGS__) SUB(UGE, __VA_ARGS__) \
    SUB(ORD, __VA_ARGS__) SUB(UNO, __VA_ARGS__)
#define ROUNDS(...) \
    SUB(FLOOR, __VA_ARGS__) SUB(CEIL, __VA_ARGS__) SUB(TRUNC, __VA_ARGS__) \
    SUB(RINT, __VA_ARGS__) SUB(ROUND, __VA_ARGS__)
#define FROMS(...) \
    FROM(S8, __VA_ARGS__) FROM(U8, __VA_ARGS__) FROM(S16, __VA_ARGS__) \
    FROM(U16, __VA_ARGS__) FROM(S32, __VA_ARGS__) FROM(U32, __VA_ARGS__) \
    FROM(F16, __VA_ARGS__) FROM(F32, __VA_ARGS__)
/* clang-format on */
/* Reductions are rare: isa_step_any. */
#define NOTHING(...)
#define WAYS_S_NONE_0 PLAIN
#define WAYS_S_NONE_F_TABLE PLAIN
#define WAYS_S_LANE_0 PLAIN
#define WAYS_S_COND_0 CONDS
#define WAYS_S_ROUND_0 ROUNDS
#define WAYS_S_REDUCE_0 NOTHING
#define WAYS_S_NONE_F_FROM FROMS
#define WAYS_S_GROUP_F_FROM FROMS

#define ROW(types, ways, each, ...) types(ways, each, __VA_ARGS__)
#define HAS_LANES(x) ROW
#define HAS_WHOLE(x) ROW
#define HAS_NOT_HERE NOTHING
#define ROWS(has, ...) has(__VA_ARGS__)

#define OP(name, units, lat, interval, form, sub, types, eval, flags, ...) \
    ROWS(HAS_##eval, TYPES_##types, WAYS_##sub##_##flags, FUNCTION, name,  \
         form, RESULT_##eval)
#include "isa/ops.def"

/* By operation, type, and source type or modifier. */
#define ENTRY(name, form, type, as, way, sub, from, result) \
    [ISA_OP_##name][ISA_##type][WAY_##way] = run_##name##_##type##_##way,
enum {
    WAY_0,
#define WAY(x) WAY_##x = ISA_##x
    WAY(S8),
    WAY(U8),
    WAY(S16),
    WAY(U16),
    WAY(S32),
    WAY(U32),
    WAY(F16),
    WAY(F32),
    WAY(EQ),
    WAY(NE),
    WAY(LT),
    WAY(LE),
    WAY(GT),
    WAY(GE),
    WAY(UEQ),
    WAY(ONE),
    WAY(ULT),
    WAY(ULE),
    WAY(UGT),
    WAY(UGE),
    WAY(ORD),
    WAY(UNO),
    WAY(FLOOR),
    WAY(CEIL),
    WAY(TRUNC),
    WAY(RINT),
    WAY(ROUND)
};

static isa_run_step *const made[ISA_N_OPS][ISA_N_TYPES][ISA_N_CONDS] = {
#define OP(name, units, lat, interval, form, sub, types, eval, flags, ...)   \
    ROWS(HAS_##eval, TYPES_##types, WAYS_##sub##_##flags, ENTRY, name, form, \
         RESULT_##eval)
#include "isa/ops.def"
};

isa_run_step *isa_step_for_result(const isa_instr *in)
{
    const isa_op_info *row = &isa_ops[in->op];
    unsigned way = row->flags & ISA_F_FROM ? in->from
                   : row->sub == ISA_SUB_COND || row->sub == ISA_SUB_ROUND
                       ? in->sub
                       : 0;
    isa_run_step *run = made[in->op][in->type][way];

    return run ? run : isa_step_any;
}

const isa_step *isa_step_any(isa_machine *m, const isa_step *s)
{
    const isa_instr *in = &m->code->f->instrs[s->extra];
    const isa_op op = (isa_op)in->op;
    const uint32_t places[ISA_MAX_SRC] = {s->a, s->b, s->c};
    isa_value src[ISA_MAX_SRC] = {{{0}}}, r;

    for (unsigned k = 0; k < isa_n_src(op); k++)
        src[k] = source(m, places[k], isa_src_class(op, k));
    r = isa_evaluate(
        in, isa_ops[op].flags & ISA_F_TABLE ? m->vectors[in->imm] : NULL, src);
    if (isa_dst_class(op, 0) == 'v')
        isa_put_vector(m, s->dst, r);
    else
        isa_put(m, s->dst, isa_word(&r));
    return s + 1;
}
