/* A SHAVE program: functions made of blocks made of bundles.
 *
 * The compiler builds it, the timing model reads block lengths from it, and a
 * compiled kernel's file carries it. Registers are numbered without limit here
 * (one per value); see isa/README.md for what that leaves out.
 *
 * Plain data: whoever builds a program owns its arrays. */
#ifndef VPU_ISA_PROGRAM_H
#define VPU_ISA_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "isa/isa.h"

enum { ISA_MAX_SRC = 4 };
#define ISA_NO_REG UINT32_C(0xffffffff)

typedef struct {
    uint16_t op;  /* isa_op */
    uint8_t unit; /* isa_unit that issues it */
    uint8_t n_src;
    uint32_t dst; /* register, ISA_NO_REG = none */
    uint32_t src[ISA_MAX_SRC];
    uint32_t cycle;     /* of issue, from the start of the block */
    uint32_t line, col; /* source position, 0 = none */
    uint32_t cost;      /* cycles until its result when not the row's latency
                           (routines), else 0 */
} isa_instr;

typedef struct {
    uint32_t first, n; /* instructions, ordered by cycle, then unit */
    uint32_t cycles;   /* length of the block, delay slots and latencies of
                          values that leave it included */
} isa_block;

typedef struct {
    const char *name;
    isa_block *blocks;
    uint32_t n_blocks;
    isa_instr *instrs;
    uint32_t n_instrs;
} isa_function;

/* What a bad schedule would break, or NULL when it is sound: two operations in
 * one slot, a value read before it is there, a missing delay slot, order.
 * *block and *instr (NULL is fine) tell where. */
const char *isa_verify(const isa_function *f, uint32_t *block, uint32_t *instr);

/* Serialised form, little-endian, of the file section `.vpusim.program`.
 * Returns the bytes needed; what does not fit in cap is not written. */
size_t isa_encode(const isa_function *fs, uint32_t n, uint8_t *out, size_t cap);

#endif
