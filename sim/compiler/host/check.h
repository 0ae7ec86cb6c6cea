/* The calls of instrument.h, taint.h and an observed work-group as host code.
 * Internal to the host code generator. */
#ifndef VPU_SIM_COMPILER_HOST_CHECK_H
#define VPU_SIM_COMPILER_HOST_CHECK_H

#include "sim/compiler/host/hostcode_priv.h"

/* At the function's beginning: what of the checker's state stays. */
void host_check_prologue(host *h, unsigned n_args);
/* False: i is something else. *v: its value, NULL = none. */
bool host_check_call(host *h, LLVMValueRef i, LLVMValueRef *v);

/* In front of each call out and where the function ends: sim_check has what the
 * code kept in registers. */
void host_check_save(host *h);

#endif
