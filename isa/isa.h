/* The SHAVE as tables: issue slots, registers and operations, straight from
 * units.def and ops.def. Freestanding: no allocation, no state; everything is
 * thread safe. */
#ifndef VPU_ISA_ISA_H
#define VPU_ISA_ISA_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
#define UNIT(name, about) ISA_UNIT_##name,
#include "isa/units.def"
    ISA_N_UNITS
} isa_unit;

typedef enum {
#define OP(name, ...) ISA_OP_##name,
#include "isa/ops.def"
    ISA_N_OPS
} isa_op;

enum {
    ISA_F_LOAD = 1,
    ISA_F_STORE = 2,
    ISA_F_BRANCH = 4,
    ISA_F_SERIAL = 8, /* a scheduling fence */
    ISA_F_FROM = 32,
    /* what imm means; at most one */
    ISA_F_OFFSET = 64,  /* bytes added to the address; argument number */
    ISA_F_TABLE = 128,  /* of the function's vectors */
    ISA_F_CALLEE = 256, /* of the function's callees */
    ISA_F_TARGET = 512  /* block */
};

/* Types of an operand, or of a lane. */
typedef enum {
    ISA_NO_TYPE,
    ISA_S8,
    ISA_U8,
    ISA_S16,
    ISA_U16,
    ISA_S32,
    ISA_U32,
    ISA_F16,
    ISA_F32,
    ISA_N_TYPES
} isa_type;

#define ISA_ANY_TYPE ((1u << ISA_N_TYPES) - 2) /* as a mask: all but none */

/* Comparisons: integers use EQ to GE, floats all. O = false with a NaN, U =
 * true with a NaN. For floats EQ to GE are the O forms but NE, which is U. */
typedef enum {
    ISA_EQ,
    ISA_NE,
    ISA_LT,
    ISA_LE,
    ISA_GT,
    ISA_GE,
    ISA_UEQ,
    ISA_ONE,
    ISA_ULT,
    ISA_ULE,
    ISA_UGT,
    ISA_UGE,
    ISA_ORD,
    ISA_UNO,
    ISA_N_CONDS
} isa_cond;

typedef enum {
    ISA_FLOOR,
    ISA_CEIL,
    ISA_TRUNC,
    ISA_RINT,  /* halves to even */
    ISA_ROUND, /* halves away from zero */
    ISA_N_ROUNDS
} isa_round;

typedef enum {
    ISA_SUM,
    ISA_PRODUCT,
    ISA_ALL, /* and */
    ISA_ANY, /* or */
    ISA_PARITY,
    ISA_LEAST,
    ISA_MOST,
    ISA_N_REDUCES
} isa_reduce;

/* Memory an access goes to. The address space is one; this is what the compiler
 * knows, and what decides whether caches are asked. */
typedef enum {
    ISA_LOCAL, /* CMX: __local, private arrays, spills, values kept */
    ISA_GLOBAL,
    ISA_CONST, /* the program's own constants, in CMX */
    ISA_N_SPACES
} isa_space;

/* Where ldarg reads. */
typedef enum { ISA_ARGS, ISA_GROUP, ISA_N_AREAS } isa_area;

typedef enum {
    ISA_SUB_NONE,
    ISA_SUB_SPACE,
    ISA_SUB_COND,
    ISA_SUB_LANE,
    ISA_SUB_GROUP,
    ISA_SUB_ROUND,
    ISA_SUB_REDUCE,
    ISA_SUB_SENSE,
    ISA_SUB_AREA
} isa_sub;

/* How sure a row's timing is. */
typedef enum { ISA_DOCUMENTED, ISA_INFERRED, ISA_ESTIMATED } isa_evidence;

/* What an operation computes: of each element alone ... */
typedef enum {
#define LANE(name, value) ISA_LANES_##name,
#include "isa/lanes.def"
} isa_lanes;

/* ... or of the whole operands. */
typedef enum {
    ISA_WHOLE_none,
    ISA_WHOLE_select,
    ISA_WHOLE_select_bits,
    ISA_WHOLE_convert,
    ISA_WHOLE_widen,
    ISA_WHOLE_narrow,
    ISA_WHOLE_move,
    ISA_WHOLE_splat,
    ISA_WHOLE_extract,
    ISA_WHOLE_extract_by,
    ISA_WHOLE_insert,
    ISA_WHOLE_insert_by,
    ISA_WHOLE_shuffle,
    ISA_WHOLE_reduce,
    ISA_WHOLE_top_bits,
    ISA_WHOLE_constant
} isa_whole;

typedef struct {
    const char *name, *about, *source;
    const char *form; /* "results:sources" */
    isa_evidence evidence;
    isa_sub sub;
    uint8_t units;  /* bit per isa_unit that can issue it; 0 = none */
    bool all_units; /* takes every unit of the mask, not one of them */
    uint8_t lat, interval;
    uint16_t flags;
    uint16_t types; /* bit t: isa_instr.type may be t; 0 = it has none */
    uint8_t as;     /* isa_type: without one, about this type; or none */
    uint8_t lanes;  /* isa_lanes */
    uint8_t whole;  /* isa_whole; not both */
} isa_op_info;

enum {
    /* Cycles between a branch and the first bundle at its target, minus one:
     * the slots behind a branch are always executed
     * (docs/hardware.md, "SHAVE latencies"; 4 to 7). */
    ISA_BRANCH_DELAY = 6,
    /* Bundles between rep and the block it repeats, an estimate
     * (docs/hardware.md, "SHAVE costs without a source"). */
    ISA_REP_DELAY = 6,
    ISA_VECTOR_BYTES = 16,
    /* docs/hardware.md, "SHAVE register files"; recalled from papers. */
    ISA_N_IREGS = 32,
    ISA_N_VREGS = 32,
    /* Ports of the register files, from the same section. No bundle reads more
     * than so many registers (tests/isa/table_test.c). Writes of the same cycle
     * are not counted: whether ports ever limit a bundle is not published. */
    ISA_I_PORTS = 18,
    ISA_V_PORTS = 12,
    ISA_MAX_CALL_ARGS = 64,
    ISA_MAX_CALL_RETS = 2,
    /* No row's lat or interval is longer. */
    ISA_MAX_WAIT = 64
};

extern const isa_op_info isa_ops[ISA_N_OPS];
extern const char *const isa_unit_names[ISA_N_UNITS];
extern const char *const isa_type_names[ISA_N_TYPES]; /* "", "s8"… */
extern const char *const isa_cond_names[ISA_N_CONDS];
extern const char *const isa_round_names[ISA_N_ROUNDS];
extern const char *const isa_reduce_names[ISA_N_REDUCES];
extern const char *const isa_space_names[ISA_N_SPACES];
extern const char *const isa_area_names[ISA_N_AREAS];

static inline unsigned isa_type_bytes(isa_type t)
{
    static const unsigned char bytes[ISA_N_TYPES] = {0, 1, 1, 2, 2, 4, 4, 2, 4};

    return bytes[t];
}

/* Results and sources of an operation. */
unsigned isa_n_dst(isa_op op);
unsigned isa_n_src(isa_op op);
char isa_dst_class(isa_op op, unsigned k); /* 'i', 'v' */
char isa_src_class(isa_op op, unsigned k); /* 'i', 'v', 'j' */

/* isa_instr.sub of this operation is below this. */
unsigned isa_n_subs(isa_op op);
/* Bytes a load or store moves; t is its type, if it has one. */
unsigned isa_access_bytes(isa_op op, isa_type t);

#endif
