/* The program while it is being built: operations on virtual registers, in
 * program order, in blocks with phis. Selection fills it, phis.c takes the phis
 * out, schedule.c and pipeline.c give cycles, registers.c gives registers. */
#ifndef VPU_SIM_SHAVE_VPROG_H
#define VPU_SIM_SHAVE_VPROG_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "isa/program.h"
#include "sim/shave/alias.h"

typedef struct {
    isa_instr in;
    LLVMValueRef ir; /* the instruction it is selected for; NULL = none */
    /* Of a memory access: */
    const alias_origin *origin; /* where it may be; NULL = unknown */
    uint32_t at;                /* bytes behind the address in the IR */
} vp_op;

typedef struct {
    isa_operand dst;
    isa_operand *src; /* per entry of from */
    uint32_t *from;   /* blocks */
    uint32_t n_from;
} vp_phi;

typedef struct {
    vp_op *ops; /* a branch, if any, is the last */
    size_t n_ops, ops_cap;
    vp_phi *phis;
    size_t n_phis, phis_cap;
    uint32_t succs[2], n_succs; /* blocks; the fall-through one last */
    uint32_t ir;                /* number of the basic block it is from */
    uint32_t edge; /* it stands on that edge of the basic block alone: 1 + k */
    uint32_t cycles;
    /* Software pipelining */
    bool may_pipeline;  /* a loop by itself that the policy allows */
    bool in_loop_entry; /* decides between the pipelined and the plain loop */
    bool fixed;         /* scheduled for good, slots and all */
    uint8_t kind;       /* isa_block_kind */
    uint32_t n_stages;
} vp_block;

typedef struct {
    arena *arena;
    vp_block *blocks;
    size_t n_blocks, blocks_cap;
    uint8_t *classes; /* per register: ISA_I or ISA_V */
    size_t n_regs, regs_cap;
    size_t first_temp; /* registers from here on carry spilled values */
    uint8_t (*vectors)[ISA_VECTOR_BYTES];
    size_t n_vectors, vectors_cap;
    const char **callees;
    size_t n_callees, callees_cap;
    uint32_t private_bytes;
} vprog;

static inline isa_operand vp_imm(uint32_t n)
{
    return (isa_operand){ISA_IMM, n};
}
static inline bool vp_is_reg(isa_operand x)
{
    return x.kind == ISA_I || x.kind == ISA_V;
}
static inline bool vp_same(isa_operand a, isa_operand b)
{
    return a.kind == b.kind && a.number == b.number;
}

/* A register as a key of an ir_map, never NULL. */
static inline const void *vp_key(isa_operand x)
{
    return (const void *)(((uintptr_t)x.number + 1) << 4);
}
/* Which source of a load or store is the address. */
static inline unsigned vp_address(const isa_instr *in)
{
    return isa_ops[in->op].flags & ISA_F_STORE ? 1 : 0;
}

isa_operand vp_reg(vprog *p, isa_operand_kind kind);
uint32_t vp_vector(vprog *p, const uint8_t bytes[ISA_VECTOR_BYTES]);
uint32_t vp_callee(vprog *p, const char *name);
vp_op *vp_add(vprog *p, vp_block *b, isa_op op);

/* The branch that ends a block, or NULL. */
vp_op *vp_branch(vp_block *b);

/* Operations whose results nobody reads are dropped. */
void vp_drop_dead(vprog *p);

#endif
