/* Host objects into memory, ready to run. Internal to sim/compiler. */
#ifndef VPU_SIM_COMPILER_STORE_JIT_H
#define VPU_SIM_COMPILER_STORE_JIT_H

#include <pthread.h>

#include "base/err.h"
#include "sim/compiler/abi/types.h"

/* Load an object and look up the variants present in *k. *k->jit owns the code;
 * the object, at a multiple of 8, is borrowed until jit_unload.
 * who: which code it is, SIM_HOOKS_… of hostabi.h. local: artifact_job's; what
 * launches of that size run must be there.
 *
 * VPU_ERR_COMPILE      the object does not link
 * VPU_ERR_PARSE        it is damaged
 * VPU_ERR_UNSUPPORTED  it takes LLVM to load it, and that is not there
 * VPU_ERR_NOMEM
 * VPU_ERR_INTERNAL     hooks lacks one that such code calls */
vpu_status jit_load(const uint8_t *object, size_t n_bytes,
                    const sim_hooks *hooks, unsigned who, const uint32_t *local,
                    sim_kernel *k, vpu_error *err);
void jit_unload(struct jit *j); /* NULL is fine */

/* Held while LLVM works in this process: a copy of it (base/task.h) uses
 * LLVM, too, and nobody would release there what another thread holds here. */
pthread_mutex_t *jit_lock(void);
/* Before anything of LLVM that makes code. Errors of ir_begin. */
vpu_status jit_begin_llvm(vpu_error *err);

#endif
