/* Which tensor lies where in DDR while a launch runs, for its trace: the one
 * place that maps addresses to names there. */
#ifndef VPU_SIM_EXEC_TENSORS_H
#define VPU_SIM_EXEC_TENSORS_H

#include "sim/exec/exec.h"

/* Gives *ml the table, in the arena: the launch's tensors, and the device's
 * buffers that none of these lies in; element sizes are of the kernel's first
 * argument that points into one. */
void exec_tensors_place(const exec_launch *l, const memory *mem,
                        mach_launch *ml, arena *a);

#endif
