/* A module of host code to an object file. LLVM's code generator takes options
 * for a whole process alone: this belongs into one that does nothing else
 * (base/task.h). Internal to sim/compiler. */
#ifndef VPU_SIM_COMPILER_STORE_CODEGEN_H
#define VPU_SIM_COMPILER_STORE_CODEGEN_H

#include <llvm-c/Types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/* The options. Once in a process, after jit_begin_llvm. */
void codegen_begin(void);

/* Compiles a little function for nothing: what LLVM does once in a process, and
 * the pages of it that every kernel needs, are there then. */
void codegen_warm(void);

/* The object in the arena. debug: code as the module is, without optimisation.
 * m is changed.
 *
 * VPU_ERR_UNSUPPORTED  LLVM makes no code for this processor
 * VPU_ERR_COMPILE      it does not accept the module; message: its own */
vpu_status codegen_object(LLVMModuleRef m, bool debug, arena *a, uint8_t **out,
                          size_t *n, vpu_error *err);

#endif
