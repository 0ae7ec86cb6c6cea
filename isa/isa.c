/* The rows of units.def and ops.def as tables, and as compile-time checks. */
#include "isa/isa.h"

#define BIT(u) (1u << ISA_UNIT_##u)
#define U_NONE 0, false
#define U_PEU BIT(PEU), false
#define U_BRU BIT(BRU), false
#define U_LSU (BIT(LSU0) | BIT(LSU1)), false
#define U_LSU2 (BIT(LSU0) | BIT(LSU1)), true
#define U_IAU BIT(IAU), false
#define U_SAU BIT(SAU), false
#define U_VAU BIT(VAU), false
#define U_CMU BIT(CMU), false
#define S_NONE ISA_SUB_NONE
#define S_SPACE ISA_SUB_SPACE
#define S_COND ISA_SUB_COND
#define S_LANE ISA_SUB_LANE
#define S_GROUP ISA_SUB_GROUP
#define S_ROUND ISA_SUB_ROUND
#define S_REDUCE ISA_SUB_REDUCE
#define S_SENSE ISA_SUB_SENSE
#define S_AREA ISA_SUB_AREA
#define F_LOAD ISA_F_LOAD
#define F_STORE ISA_F_STORE
#define F_BRANCH ISA_F_BRANCH
#define F_SERIAL ISA_F_SERIAL
#define F_FROM ISA_F_FROM
#define F_OFFSET ISA_F_OFFSET
#define F_TABLE ISA_F_TABLE
#define F_CALLEE ISA_F_CALLEE
#define F_TARGET ISA_F_TARGET
#define T(x) (1u << ISA_##x)
#define T_NONE 0, ISA_NO_TYPE
#define T_AS_F16 0, ISA_F16
#define T_AS_F32 0, ISA_F32
#define T_INT32 (T(S32) | T(U32)), ISA_NO_TYPE
#define T_INTS (T(S8) | T(U8) | T(S16) | T(U16) | T(S32) | T(U32)), ISA_NO_TYPE
#define T_FLOATS (T(F16) | T(F32)), ISA_NO_TYPE
#define T_ANY ISA_ANY_TYPE, ISA_NO_TYPE
#define LANES(x) ISA_LANES_##x, ISA_WHOLE_none
#define WHOLE(x) ISA_LANES_none, ISA_WHOLE_##x
#define NOT_HERE ISA_LANES_none, ISA_WHOLE_none
#define DOC(s) s, ISA_DOCUMENTED
#define INF(s) s, ISA_INFERRED
#define EST(s) s, ISA_ESTIMATED

/* units, types, eval and src expand to two initialisers each, hence the second
 * macro. */
#define ROW(op, units_, units_all, lat_, int_, form_, sub_, types_, as_, \
            lanes_, whole_, fl, source_, evidence_, about_)              \
    [ISA_OP_##op] = {.name = #op,                                        \
                     .about = about_,                                    \
                     .source = source_,                                  \
                     .form = form_,                                      \
                     .evidence = evidence_,                              \
                     .sub = sub_,                                        \
                     .units = units_,                                    \
                     .all_units = units_all,                             \
                     .lat = lat_,                                        \
                     .interval = int_,                                   \
                     .flags = fl,                                        \
                     .types = types_,                                    \
                     .as = as_,                                          \
                     .lanes = lanes_,                                    \
                     .whole = whole_},
#define ROW_(...) ROW(__VA_ARGS__)

const isa_op_info isa_ops[ISA_N_OPS] = {
#define OP(name, units, lat, interval, form, sub, types, eval, flags, src, \
           about)                                                          \
    ROW_(name, units, lat, interval, form, sub, types, eval, flags, src, about)
#include "isa/ops.def"
};

#define OP(name, units, lat, interval, ...)                                  \
    _Static_assert((lat) >= 1 && (interval) >= 1 && (lat) <= ISA_MAX_WAIT && \
                       (interval) <= ISA_MAX_WAIT,                           \
                   #name ": bad timing");
#include "isa/ops.def"

const char *const isa_unit_names[ISA_N_UNITS] = {
#define UNIT(name, about) #name,
#include "isa/units.def"
};
const char *const isa_type_names[ISA_N_TYPES] = {
    "", "s8", "u8", "s16", "u16", "s32", "u32", "f16", "f32"};
const char *const isa_cond_names[ISA_N_CONDS] = {
    "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "ueq",
    "one", "ult", "ule", "ugt", "uge", "ord", "uno"};
const char *const isa_round_names[ISA_N_ROUNDS] = {"floor", "ceil", "trunc",
                                                   "rint", "round"};
const char *const isa_reduce_names[ISA_N_REDUCES] = {
    "sum", "product", "all", "any", "parity", "least", "most"};
const char *const isa_space_names[ISA_N_SPACES] = {"local", "global", "const"};
const char *const isa_area_names[ISA_N_AREAS] = {"args", "group"};

static unsigned colon(const char *form)
{
    unsigned n = 0;

    while (form[n] != ':')
        n++;
    return n;
}

unsigned isa_n_dst(isa_op op)
{
    return colon(isa_ops[op].form);
}

unsigned isa_n_src(isa_op op)
{
    const char *p = isa_ops[op].form + colon(isa_ops[op].form) + 1;
    unsigned n = 0;

    while (p[n])
        n++;
    return n;
}

char isa_dst_class(isa_op op, unsigned k)
{
    return isa_ops[op].form[k];
}

char isa_src_class(isa_op op, unsigned k)
{
    return isa_ops[op].form[colon(isa_ops[op].form) + 1 + k];
}

unsigned isa_n_subs(isa_op op)
{
    switch (isa_ops[op].sub) {
    case ISA_SUB_SPACE:
        return ISA_N_SPACES;
    case ISA_SUB_COND:
        return ISA_N_CONDS;
    case ISA_SUB_LANE:
        return ISA_VECTOR_BYTES;
    case ISA_SUB_GROUP:
        return 4; /* 32-bit lanes to 8-bit ones and back */
    case ISA_SUB_ROUND:
        return ISA_N_ROUNDS;
    case ISA_SUB_REDUCE:
        return ISA_N_REDUCES;
    case ISA_SUB_SENSE:
        return 2;
    case ISA_SUB_AREA:
        return ISA_N_AREAS;
    default:
        return 1;
    }
}

unsigned isa_access_bytes(isa_op op, isa_type t)
{
    switch (op) {
    case ISA_OP_ldv64:
    case ISA_OP_ldv64p:
    case ISA_OP_stv64:
    case ISA_OP_stv64p:
        return ISA_VECTOR_BYTES / 2;
    case ISA_OP_ldv128:
    case ISA_OP_ldv128p:
    case ISA_OP_stv128:
    case ISA_OP_stv128p:
        return ISA_VECTOR_BYTES;
    default:
        return isa_type_bytes(t);
    }
}
