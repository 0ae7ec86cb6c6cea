/* What operations compute, apart from memory and control. Values are bits; what
 * the rows of ops.def leave open is decided here and nowhere else:
 *
 *   - an I register's bits above a narrow result are its sign (signed types) or
 *     zeros (others)
 *   - halves are computed as floats and rounded once, to nearest even; floats
 *     are C's. Which NaN comes out is not defined.
 *   - floats to integers: towards zero, the nearest value that fits, NaN to 0;
 *     integers to floats: to nearest even; integers to integers: low bits
 *   - minimum and maximum: of equal operands (zeros of either sign) the first
 *   - the least integer divided by -1 is itself, remainder 0
 *   - a reduction starts with lane 0
 *
 * No state; thread safe. */
#ifndef VPU_ISA_SEMANTICS_H
#define VPU_ISA_SEMANTICS_H

#include "isa/program.h"

/* A register's content: lane 0 lowest; a scalar is word 0. */
typedef struct {
    uint8_t byte[ISA_VECTOR_BYTES];
} isa_value;

/* The type that an operation computes in: its own, or what it is for. */
isa_type isa_computes_in(const isa_instr *in);

/* The result of an operation that neither accesses memory nor branches. table:
 * the vector imm names, for those that have one. */
isa_value isa_evaluate(const isa_instr *in, const uint8_t *table,
                       const isa_value src[ISA_MAX_SRC]);

#endif
