/* The work-group vectorizer: N neighbouring items of dimension 0 as one.
 *
 * As the device's compiler does (docs/hardware.md, "OpenCL runtime"): only over
 * get_global_id(0), only when control flow is uniform, never when the source
 * uses vector types.
 * The result is a work-item function that stands for items lid0 … lid0+N-1. */
#ifndef VPU_SIM_COMPILER_MIDDLE_VECTORIZE_H
#define VPU_SIM_COMPILER_MIDDLE_VECTORIZE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/arena.h"

typedef struct {
    unsigned factor;    /* 8 (half, short, char) or 4 (32-bit); 0 = not done */
    LLVMValueRef fn;    /* the vectorized function */
    const char *reason; /* why not; NULL when done. In the arena */
    unsigned line, col; /* where, 0 = the kernel as a whole */
} vectorize_result;

/* Does the kernel's source use vector types? Ask before any optimisation. */
bool vectorize_source_has_vectors(LLVMValueRef kernel, unsigned *line);

/* Try to vectorize; fn is an optimised work-item function with expanded
 * built-ins. The new function is named after fn with ".vectorized". */
void vectorize(LLVMValueRef fn, arena *a, vectorize_result *out);

#endif
