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
#define F_LOAD ISA_F_LOAD
#define F_STORE ISA_F_STORE
#define F_BRANCH ISA_F_BRANCH
#define F_SERIAL ISA_F_SERIAL
#define DOC(s) s, ISA_DOCUMENTED
#define INF(s) s, ISA_INFERRED
#define EST(s) s, ISA_ESTIMATED

/* units and src expand to two initialisers each, hence the second macro. */
#define ROW(op, units_, units_all, lat_, int_, fl, source_, evidence_, about_) \
    [ISA_OP_##op] = {.name = #op,                                              \
                     .about = about_,                                          \
                     .source = source_,                                        \
                     .evidence = evidence_,                                    \
                     .units = units_,                                          \
                     .all_units = units_all,                                   \
                     .lat = lat_,                                              \
                     .interval = int_,                                         \
                     .flags = fl},
#define ROW_(...) ROW(__VA_ARGS__)

const isa_op_info isa_ops[ISA_N_OPS] = {
#define OP(name, units, lat, interval, flags, src, about) \
    ROW_(name, units, lat, interval, flags, src, about)
#include "isa/ops.def"
};

#define OP(name, units, lat, interval, ...) \
    _Static_assert((lat) >= 1 && (interval) >= 1, #name ": bad timing");
#include "isa/ops.def"

const char *const isa_unit_names[ISA_N_UNITS] = {
#define UNIT(name, about) #name,
#include "isa/units.def"
};
