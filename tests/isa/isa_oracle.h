/* What each operation computes, in plain C that shares nothing with isa/:
 * numbers are doubles or 64-bit integers here, and halves are rounded by hand.
 */
#ifndef VPU_TESTS_ISA_ISA_ORACLE_H
#define VPU_TESTS_ISA_ISA_ORACLE_H

#include "isa/program.h"

typedef union {
    uint8_t bytes[16];
    int8_t s8[16];
    uint8_t u8[16];
    int16_t s16[8];
    uint16_t u16[8];
    int32_t s32[4];
    uint32_t u32[4];
    float f32[4];
} oracle_bits;

typedef struct {
    oracle_bits vectors[3]; /* what V sources hold */
    uint32_t integers[3];   /* I sources, or immediates */
} oracle_inputs;

bool oracle_is_real(isa_type t);
unsigned oracle_width(isa_type t); /* in bits */
double oracle_real(isa_type t, uint32_t bits);
int64_t oracle_whole(isa_type t, uint32_t bits);
uint32_t oracle_lane(isa_type t, const oracle_bits *v, unsigned k);
void oracle_set_lane(isa_type t, oracle_bits *v, unsigned k, uint32_t x);

/* The result of an operation that neither accesses memory nor branches. table:
 * the vector it names. Bits above a narrow word are not meant. */
oracle_bits oracle_vector(const isa_instr *in, const uint8_t *table,
                          const oracle_inputs *x);
uint32_t oracle_word(const isa_instr *in, const oracle_inputs *x);

#endif
