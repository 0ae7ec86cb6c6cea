/* A work-group function as a SHAVE program.
 *
 * Each IR instruction becomes operations of isa/ops.def (wide vectors in
 * 128-bit pieces, address constants folded into the access, routines at their
 * table cost), each block is list-scheduled. The cycles of a block are what the
 * host code adds to the SHAVE's issue cycles when it runs that block. */
#ifndef VPU_SIM_COMPILER_LOWER_H
#define VPU_SIM_COMPILER_LOWER_H

#include <llvm-c/Core.h>

#include "isa/program.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

/* out->blocks[i] belongs to the i-th basic block of fn. In the arena.
 * VPU_ERR_MISMATCH  the verifier refused a schedule (a defect of ours) */
vpu_status lower_function(LLVMValueRef fn, const char *name, arena *a,
                          isa_function *out, vpu_error *err);

#endif
