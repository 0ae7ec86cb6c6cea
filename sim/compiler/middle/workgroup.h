/* From a function for one work-item to a function for a whole work-group.
 *
 *   void K(args…, i32 grp0..2, lsz0..2, ngrp0..2, off0..2, dims0..2, ptr kept)
 *
 * (SIM_ID_… of sim/builtins/calls.h).
 *
 * The kernel is cut at its collective points (barriers, copies, waits) into
 * regions; each region becomes a loop over the group's items. Control flow that
 * leads from one collective point to another must be the same for all items, as
 * OpenCL demands; that is checked as the group runs, and the call
 * divergence(line) is made when it does not hold. So barriers cost no thread
 * and no stack, and may stand in loops and conditions.
 *
 * Values that live across a collective point are recomputed when that is cheap
 * and depends on ids alone, kept once when all items agree on them, and kept
 * per item in the memory behind `kept` otherwise (item_bytes per item). */
#ifndef VPU_SIM_COMPILER_MIDDLE_WORKGROUP_H
#define VPU_SIM_COMPILER_MIDDLE_WORKGROUP_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/arena.h"

typedef struct {
    LLVMValueRef fn;
    uint32_t item_bytes; /* of `kept` memory per (vectorized) item */
    uint32_t n_regions;
} workgroup;

/* lanes: items of dimension 0 that one run of item_fn stands for. The group's
 * lsz0 must be a multiple. item_fn keeps its meaning. observed: the function
 * tells which item runs, check_item(i32 linear), and where all have reached a
 * barrier, check_barrier() (sim/builtins/calls.def). */
void workgroup_build(LLVMValueRef item_fn, unsigned lanes, bool observed,
                     const char *name, arena *a, workgroup *out);

#endif
