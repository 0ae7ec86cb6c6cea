/* What a translation unit may name.
 *
 * A kernel can give any function it declares any symbol (asm labels). Symbols
 * of ours, LLVM's intrinsics and built-ins with other types than theirs would
 * be taken for what they are called, so each is looked at before anything is
 * built on it. */
#ifndef VPU_SIM_COMPILER_EXPAND_NAMES_H
#define VPU_SIM_COMPILER_EXPAND_NAMES_H

#include <llvm-c/Core.h>

#include "base/err.h"
#include "sim/ir/ir.h"

/* The unit as the front end left it.
 *
 * VPU_ERR_COMPILE  a reserved name, inline assembly, an intrinsic that is
 *                  neither the front end's own nor what a SHAVE has */
vpu_status names_check(LLVMModuleRef m, const char *path, vpu_error *err);

/* Is call, of a function that has no body, one of the forms `types` of
 * builtins.def, and are its arguments those of the mangled name? suffix: of a
 * family's name. NULL, or what is wrong. */
const char *names_call_problem(LLVMValueRef call, const ir_signature *sig,
                               const char *types, const char *suffix);

#endif
