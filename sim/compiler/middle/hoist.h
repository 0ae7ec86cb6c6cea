/* Copies of a kernel as preload and postwrite phases of its own.
 *
 * A copy into local memory at a kernel's begin can run while the group before
 * computes, one out of it at the kernel's end while the group behind computes,
 * as those of a kernel with __dma_preload_ and __dma_postwrite_ functions do,
 * if the group's arrays are there twice. The metadata of the vendor's compiled
 * kernels have flags for such phases and arrays (docs/formats.md, "Metadata of
 * 2021 and later"); under which conditions that compiler makes them is not
 * published [assumed: wherever it changes no result].
 *
 * A copy moves only if all of this holds:
 *   - it happens once in each group, whatever the arguments are;
 *   - its addresses and sizes are made of arguments, sizes and group numbers,
 *     not of local ids nor of memory;
 *   - its event goes to waits, and to copies that join it, alone;
 *   - its local end is in one array of the program or one argument;
 *   - in:  nothing before it writes to global memory, and nothing touches the
 *          array before a wait for the copy;
 *   - out: nothing behind it touches global memory or writes to the array. */
#ifndef VPU_SIM_COMPILER_MIDDLE_HOIST_H
#define VPU_SIM_COMPILER_MIDDLE_HOIST_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/arena.h"
#include "sim/compiler/abi/types.h"

typedef struct {
    LLVMValueRef *arrays; /* __local arrays that copies of phases touch */
    uint32_t n_arrays;
} hoist_result;

/* fns: the kernel's scalar function, optimised, its built-ins expanded. Where
 * copies move, its preload and postwrite functions are made. k->copies tells of
 * each copy, args[i].twice of arguments that copies of phases touch. A kernel
 * that has such functions in its source keeps its copies. All is in a. */
void hoist(LLVMValueRef *fns, arena *a, sim_kernel *k, hoist_result *out);

#endif
