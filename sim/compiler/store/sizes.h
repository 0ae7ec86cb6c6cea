/* Data no device could hold: said at once, before memory and time go into it.
 * What fits is a machine's business and is judged when a launch is placed. */
#ifndef VPU_SIM_COMPILER_STORE_SIZES_H
#define VPU_SIM_COMPILER_STORE_SIZES_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* A variable at program scope, bytes long, with which all of its kind take
 * total.
 *
 * VPU_ERR_LIMIT  __constant data over 256 MiB, __local data over 1 GiB */
vpu_status sizes_check_global(const char *name, bool local, uint64_t bytes,
                              uint64_t total, vpu_error *err);

/* The private arrays of each function of a module.
 *
 * VPU_ERR_LIMIT  over 2 GiB together (file and line where one is used) */
vpu_status sizes_check_private(LLVMModuleRef m, const char *path,
                               vpu_error *err);

#endif
