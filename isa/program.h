/* A SHAVE program: functions made of blocks made of bundles.
 *
 * The compiler builds it, the timing model reads block lengths from it, the
 * interpreter executes it, and a compiled kernel's file carries it. While the
 * compiler works registers are virtual: numbered without limit, one per value.
 * In a finished program they are the machine's.
 *
 * The pipeline is exposed: a result is written lat cycles after issue, and
 * whoever reads the register earlier gets what it held before.
 *
 * Plain data: whoever builds a program owns its arrays. */
#ifndef VPU_ISA_PROGRAM_H
#define VPU_ISA_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "isa/isa.h"

enum { ISA_MAX_DST = 2, ISA_MAX_SRC = 3 };

typedef enum {
    ISA_NONE,
    ISA_I,   /* I register */
    ISA_V,   /* V register */
    ISA_SP,  /* first byte of the SHAVE's private memory; addresses only */
    ISA_IMM, /* the 32 bits of number */
} isa_operand_kind;

typedef struct {
    uint8_t kind;    /* isa_operand_kind */
    uint32_t number; /* register number or immediate */
} isa_operand;

typedef struct {
    uint8_t op;   /* isa_op */
    uint8_t unit; /* isa_unit that issues it (LSU0 for both) */
    uint8_t type; /* isa_type, one of its row's types */
    uint8_t from; /* isa_type of the source, with ISA_F_FROM */
    uint8_t sub;  /* as the row's sub says */
    /* Happens only if the bundle's pred says so; else its results keep their
     * old value. */
    bool predicated;
    uint16_t stage; /* of a software-pipelined loop: iterations it runs ahead of
                       are `stage` younger; 0 elsewhere */
    isa_operand dst[ISA_MAX_DST];
    isa_operand src[ISA_MAX_SRC];
    int32_t imm;
    uint32_t cycle;     /* of issue, from the start of the block */
    uint32_t seq;       /* place in program order, before scheduling */
    uint32_t line, col; /* source position, 0 = none */
    uint32_t cost;      /* of a call: cycles until its result is there and the
                           next operation may issue; else 0 */
} isa_instr;

/* What a block is for; only the listing and the access order need it. */
typedef enum {
    ISA_PLAIN,
    ISA_PROLOGUE, /* of a software-pipelined loop: fills the pipeline */
    ISA_KERNEL,   /* repeated; stages overlap */
    ISA_EPILOGUE  /* drains it */
} isa_block_kind;

typedef struct {
    uint32_t first, n_instrs; /* instructions, ordered by cycle, then unit */
    uint32_t cycles;          /* length, delay slots included */
    uint8_t kind;             /* isa_block_kind */
    uint32_t n_stages;        /* of the loop, when kind is not PLAIN */
} isa_block;

/* Control falls from a block into the next unless a branch is taken; a branch's
 * delay slots end its block, so a block has at most one. */
typedef struct {
    const char *name;
    isa_block *blocks;
    uint32_t n_blocks;
    isa_instr *instrs;
    uint32_t n_instrs;
    uint8_t (*vectors)[ISA_VECTOR_BYTES]; /* constants, shuffle tables */
    uint32_t n_vectors;
    const char **callees;
    uint32_t n_callees;
    uint32_t private_bytes; /* of sp: private arrays and spills */
    uint32_t n_spills;      /* registers that did not fit */
} isa_function;

/* What a bad program would break, or NULL when it is sound: operands, types and
 * fields that are not the row's, registers the machine does not have, two
 * operations in one slot, a value read before it is there, a missing delay
 * slot, order. *block and *instr (of the block; NULL is fine) tell where. */
const char *isa_verify(const isa_function *f, uint32_t *block, uint32_t *instr);
/* The same while registers are still virtual: any number will do. */
const char *isa_verify_virtual(const isa_function *f, uint32_t *block,
                               uint32_t *instr);

/* Serialised form, little-endian, of the file section `.vpusim.program`.
 * Returns the bytes needed; what does not fit in cap is not written. */
size_t isa_encode(const isa_function *fs, uint32_t n, uint8_t *out, size_t cap);

/* Where what is read goes: n bytes aligned for anything, or NULL. Nothing is
 * ever given back, so an arena will do. */
typedef struct {
    void *(*alloc)(void *user, size_t n);
    void *user;
} isa_memory;

/* Reads what isa_encode wrote. NULL, or what is wrong with the bytes. Every
 * field of the result is in its range, which does not make it a sound program:
 * isa_verify follows. */
const char *isa_decode(const uint8_t *in, size_t size, const isa_memory *mem,
                       isa_function **fs, uint32_t *n);

#endif
