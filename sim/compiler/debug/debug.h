/* What code made for a debugger has and other code has not: source variables
 * that stay in memory, the ids of the item, a stop where one item begins; and
 * DWARF that says where all that is. Internal to the compiler. */
#ifndef VPU_SIM_COMPILER_DEBUG_DEBUG_H
#define VPU_SIM_COMPILER_DEBUG_DEBUG_H

#include "base/arena.h"
#include "base/str.h"
#include "sim/ir/ir.h"

/* Turns the declarations of source variables in m, fresh from clang and
 * inlined, into calls of var(address), which passes leave
 * alone, with the variable as metadata. What clang's prelude declares is
 * dropped. */
void debuginfo_mark_variables(LLVMModuleRef m);

/* Adds variables global_id, local_id and group_id to an item function whose
 * built-ins are expanded (not where the source has one of that name), and
 * with at, a call of stop(i1) that stops the item with that global id. */
void debuginfo_add_ids(LLVMValueRef fn, const uint32_t *at);

/* For sim_debug.lines: fn tells where its items are (a call of line at
 * each source line, collective operation and end) and what its variables are.
 * Appends the texts of the lines, each with its NUL, to all.
 * After debuginfo_add_ids. */
void debuginfo_add_lines(LLVMValueRef fn, arena *a, str *all);

/* The kinds of metadata by which the host code generator (sim/compiler/host)
 * knows the calls (rows DEBUG of sim/builtins/calls.def): of var the variable,
 * of the calls of debuginfo_add_lines the text. */
unsigned debuginfo_variable_kind(LLVMContextRef c);
unsigned debuginfo_text_kind(LLVMContextRef c);

#endif
