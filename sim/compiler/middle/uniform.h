/* Which values differ between the work-items of a group?
 *
 * A value is varying when it depends on a local id of the dimensions asked for,
 * through data or through control flow, or comes from private memory or an
 * atomic. Everything else is uniform: all items compute the same. */
#ifndef VPU_SIM_COMPILER_MIDDLE_UNIFORM_H
#define VPU_SIM_COMPILER_MIDDLE_UNIFORM_H

#include "sim/ir/ir.h"

typedef struct {
    ir_map varying;         /* instruction -> itself */
    LLVMValueRef divergent; /* a terminator whose condition varies, or NULL */
} uniformity;

/* dims: bit d = the local id of dimension d varies. fn is a work-item function
 * whose built-ins are expanded (expand.h). */
void uniformity_analyse(uniformity *u, LLVMValueRef fn, unsigned dims,
                        arena *a);
bool uniformity_varies(const uniformity *u, LLVMValueRef v);

#endif
