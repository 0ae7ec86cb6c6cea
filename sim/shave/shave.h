/* A work-group function as a SHAVE program.
 *
 * Selection turns IR into operations on virtual registers (wide vectors in
 * 128-bit parts), phis become copies where they cannot share a register,
 * blocks are list-scheduled and loops that may be are software-pipelined,
 * registers are allocated with spills to the SHAVE's private memory, and the
 * verifier looks at the result. What each part of the program costs is what the
 * host code adds to the SHAVE's issue cycles. */
#ifndef VPU_SIM_SHAVE_SHAVE_H
#define VPU_SIM_SHAVE_SHAVE_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "base/arena.h"
#include "base/err.h"
#include "isa/program.h"
#include "sim/shave/abi.h"

/* Where a program-scope variable lies. */
typedef struct {
    LLVMValueRef global;
    uint32_t offset, bytes;
} shave_global;

/* What the runtime decided about memory. */
typedef struct {
    const shave_global *globals;
    uint32_t n_globals;
    const uint32_t *arg_offsets; /* of each kernel argument in the block */
} shave_layout;

/* What the host code adds when control goes through the IR. */
typedef struct {
    uint32_t cycles; /* on entering the block */
    uint32_t *edge;  /* on leaving for successor k; NULL = nothing */
    /* A block that loops on itself and was software-pipelined costs nothing on
     * entry; leaving after n iterations, stages or more of them:
     * loop_entry + loop_frame + n * loop_interval, fewer:
     * loop_entry + n * loop_plain. */
    uint32_t loop_stages; /* 0 = it was not */
    uint32_t loop_entry, loop_frame, loop_interval, loop_plain;
} shave_cost;

/* What an operation was selected for. */
typedef struct {
    LLVMValueRef ir; /* NULL: the compiler's own, a spill or a constant */
    uint32_t at;     /* of an access: bytes behind the IR's address */
} shave_from;

typedef struct {
    isa_function fn;
    shave_cost *costs;        /* per basic block, in the function's order */
    const shave_from *from;   /* per operation of fn */
    const uint32_t *block_ir; /* per block of fn: its basic block */
} shave_program;

/* The pieces a load or store of type t is made of, in bytes each, in order of
 * address. Returns how many; out has room for SHAVE_MAX_PIECES. */
enum { SHAVE_MAX_PIECES = 128 };
uint32_t shave_pieces(LLVMTargetDataRef td, LLVMTypeRef t, uint8_t *out);

/* In the arena.
 * VPU_ERR_UNSUPPORTED  something without SHAVE form; names line and what
 * VPU_ERR_INTERNAL     the verifier refused the program (a defect of ours) */
vpu_status shave_build(LLVMValueRef fn, const char *name,
                       const shave_layout *layout, arena *a, shave_program *out,
                       vpu_error *err);

#endif
