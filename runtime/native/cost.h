/* What a stage costs on a machine. */
#ifndef VPU_RUNTIME_NATIVE_COST_H
#define VPU_RUNTIME_NATIVE_COST_H

#include "runtime/native/native.h"
#include "sim/machine/stage.h"

/* The work of the operation, and of what it injects, in a; at most
 * MACH_MAX_WORKS. name is for the timeline. */
uint32_t native_cost(const native_op *op, const mach_desc *desc,
                     const char *name, arena *a, mach_work *works);

#endif
