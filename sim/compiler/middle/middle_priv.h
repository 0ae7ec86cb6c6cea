/* Steps that the pipeline (middle.c) and the analysis for `vpu port` (boxes.c)
 * share. */
#ifndef VPU_SIM_COMPILER_MIDDLE_MIDDLE_PRIV_H
#define VPU_SIM_COMPILER_MIDDLE_MIDDLE_PRIV_H

#include <llvm-c/Core.h>

#include "base/err.h"

/* VPU_ERR_COMPILE  with LLVM's message */
vpu_status middle_run_passes(LLVMModuleRef m, const char *passes,
                             vpu_error *err);
/* Marks every function to be inlined but those to keep, n of them; NULLs among
 * them count for nothing. */
void middle_mark_inline(LLVMModuleRef m, const LLVMValueRef *keep, uint32_t n);

#endif
