/* A device work-group function as host code.
 *
 * The same IR that became the SHAVE program is rewritten for the host with
 * three additions: every memory access goes through the device's address window
 * (base
 * + zero-extended 32-bit address), every block adds its cycles, and every
 * access to global memory is logged for the cache model. Pointers become i32.
 */
#ifndef VPU_SIM_COMPILER_HOST_HOSTCODE_H
#define VPU_SIM_COMPILER_HOST_HOSTCODE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "sim/compiler/abi/site.h"
#include "sim/shave/shave.h"

typedef enum {
    HOSTCODE_PLAIN,
    HOSTCODE_LINES,  /* notes each access's source position in sim_wg */
    HOSTCODE_DEBUG,  /* with source lines and variables as DWARF (debug.h) */
    HOSTCODE_CHECKED /* what instrument.h adds calls the checker; no log */
} hostcode_kind;

typedef struct {
    LLVMValueRef fn;
    const char *name; /* of the function to make, a sim_wg_fn */
    hostcode_kind kind;
    /* What fn became on the SHAVE: of it only the blocks' costs are used. */
    const shave_program *program;
    const shave_layout *layout;
    const sim_sites *sites; /* with HOSTCODE_CHECKED, what instrument.h filled;
                               else NULL */
} hostcode_source;

/* Adds the function to `to`, a module with the host's layout in the same
 * context as fn's. *stack_bytes: of private arrays.
 *
 * VPU_ERR_UNSUPPORTED  an instruction or constant without host form */
vpu_status hostcode_add(LLVMModuleRef to, const hostcode_source *source,
                        arena *a, uint32_t *stack_bytes, vpu_error *err);

/* For HOSTCODE_DEBUG, once: `to` gets what every module with DWARF has. */
void hostcode_begin_debug(LLVMModuleRef to, LLVMModuleRef device);

/* Behind the optimiser: where it found that control never comes stands a call
 * of the hook unreachable, so that no jump table and no branch leads out of the
 * code, whatever else is wrong. */
void hostcode_close(LLVMModuleRef m);

#endif
