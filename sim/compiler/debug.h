/* What code made for a debugger has and other code has not: source variables
 * that stay in memory, the ids of the item, a stop where one item begins; and
 * DWARF that says where all that is. Internal to the compiler. */
#ifndef VPU_SIM_COMPILER_DEBUG_H
#define VPU_SIM_COMPILER_DEBUG_H

#include "sim/compiler/hostcode_priv.h"
#include "sim/compiler/kernel.h"

/* Turns the declarations of source variables in m, fresh from clang and
 * inlined, into calls that passes leave alone: __vpu_var(address), with the
 * variable as metadata. What clang's prelude declares is dropped. */
void debug_mark_variables(LLVMModuleRef m);

/* Adds variables global_id, local_id and group_id to an item function whose
 * built-ins are expanded (not where the source has one of that name), and
 * with at, a stop for the item with that global id: __vpu_stop(i1). */
void debug_add_ids(LLVMValueRef fn, const uint32_t *at);

/* For sim_debug.lines: fn tells where its items are (__vpu_line, at each source
 * line, collective operation and end) and what its variables are. After
 * debug_add_ids. */
void debug_add_lines(LLVMValueRef fn, arena *a);
/* Those calls as host code. False: i is something else, or not for lines. */
bool debug_line_call(host *h, LLVMValueRef i);

/* The host module gets what every module with DWARF has. */
void debug_begin_module(LLVMModuleRef host, LLVMModuleRef device);
/* h->fn is the code of h->from's subprogram. */
void debug_begin_function(host *h);
/* __vpu_var and __vpu_stop as host code. False: i is something else. */
bool debug_call(host *h, LLVMValueRef i);

#endif
