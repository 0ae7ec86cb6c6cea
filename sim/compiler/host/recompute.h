/* Host code of functions with very many values that live long, in time that
 * grows with their number. */
#ifndef VPU_SIM_COMPILER_HOST_RECOMPUTE_H
#define VPU_SIM_COMPILER_HOST_RECOMPUTE_H

#include <llvm-c/Core.h>

#include "base/arena.h"

/* Behind the optimiser: of a function with very many values that are used in
 * other blocks and cheap to compute, each is computed where it is used. */
void recompute_cheap_values(LLVMValueRef fn, arena *a);

#endif
