/* A device work-group function as host code.
 *
 * The same IR that became the SHAVE program is rewritten for the host with
 * three additions: every memory access goes through the device's address window
 * (base
 * + zero-extended 32-bit address), every block adds its cycles, and every
 * access to global memory is logged for the cache model. Pointers become i32.
 */
#ifndef VPU_SIM_COMPILER_HOSTCODE_H
#define VPU_SIM_COMPILER_HOSTCODE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "isa/program.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

/* Where __local and __constant variables of the program go. */
typedef struct {
    LLVMValueRef global;
    uint32_t offset, bytes;
} host_global;

typedef struct {
    const host_global *globals;
    uint32_t n_globals;
    const uint32_t *arg_offsets; /* of each kernel argument in the block */
    bool track_lines; /* note each access's source position in sim_wg */
} host_layout;

/* Adds function `name` (sim_wg_fn) to `to`, a module with the host's layout in
 * the same context as fn's. program->blocks match fn's blocks. *stack_bytes:
 * the private arrays left in fn.
 *
 * VPU_ERR_UNSUPPORTED  an instruction or constant without host form */
vpu_status hostcode_add(LLVMModuleRef to, LLVMValueRef fn, const char *name,
                        const isa_function *program, const host_layout *layout,
                        arena *a, uint32_t *stack_bytes, vpu_error *err);

#endif
