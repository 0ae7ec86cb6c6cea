/* Launches in other orders than the plain one: work-groups permuted, or by
 * turns at copies, waits and barriers, with transfers as late as the device may
 * make them. What then comes out differently was a matter of luck. */
#ifndef VPU_SIM_CHECK_ORDER_H
#define VPU_SIM_CHECK_ORDER_H

#include "sim/exec/exec.h"

/* What kernels call that are compiled with sim_checking.barriers. */
extern const sim_hooks order_hooks;

/* As exec_run, untimed, on one host thread. l says which groups in which order
 * and turns. late: a transfer happens when it is waited for, or its phase ends,
 * and not when it is made. A group that stops (divergence, a fault) is passed
 * over. */
vpu_status order_launch(memory *mem, const mach_desc *desc,
                        const exec_launch *l, bool late, vpu_error *err);

#endif
