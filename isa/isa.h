/* The SHAVE as tables: issue slots and operations, straight from units.def and
 * ops.def. Freestanding: no allocation, no state; everything is thread safe. */
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
#define OP(name, units, lat, interval, flags, src, about) ISA_OP_##name,
#include "isa/ops.def"
    ISA_N_OPS
} isa_op;

enum {
    ISA_F_LOAD = 1,
    ISA_F_STORE = 2,
    ISA_F_BRANCH = 4,
    ISA_F_SERIAL = 8 /* a scheduling fence */
};

/* How sure a row's timing is. */
typedef enum { ISA_DOCUMENTED, ISA_INFERRED, ISA_ESTIMATED } isa_evidence;

typedef struct {
    const char *name, *about, *source;
    isa_evidence evidence;
    uint8_t units;  /* bit per isa_unit that can issue it; 0 = none */
    bool all_units; /* takes every unit of the mask, not one of them */
    uint8_t lat, interval, flags;
} isa_op_info;

/* Cycles between a branch and the first bundle at its target, minus one: the
 * slots behind a branch are always executed (hardware.md 3.4, INF, 4..7). */
enum { ISA_BRANCH_DELAY = 6, ISA_VECTOR_BYTES = 16 };

extern const isa_op_info isa_ops[ISA_N_OPS];
extern const char *const isa_unit_names[ISA_N_UNITS];

#endif
