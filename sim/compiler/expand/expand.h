/* Built-in calls to plain IR. After this pass a module calls nothing but LLVM
 * intrinsics and runtime calls (sim/builtins/calls.def), the mathematical
 * routines among them. Of the others later passes know the meaning:
 *
 *   i32  lid<d> lsz<d> grp<d> ngrp<d> off<d>      d = 0, 1, 2
 *   void barrier()
 *   i32  dma(i32 x 13)                SIM_DMA_… of hostabi.h, in order
 *   void wait(i32 n)                  for the transfers numbered 1 … n
 *   half half_z/_p/_n(float)          directed rounding
 *   float float_{i,u}{z,p,n}(i64)     likewise, from integers
 *   void printf(i32 format, i32 args, i32 n)    device addresses
 *
 * Pointers are device addresses, as i32. dma returns what OpenCL's event_t
 * holds: the event given to it, or without one (0) the transfer's number in its
 * group, from 1. Barrier, dma and wait are collective: every item of the group
 * must reach them, and they happen once. */
#ifndef VPU_SIM_COMPILER_EXPAND_EXPAND_H
#define VPU_SIM_COMPILER_EXPAND_EXPAND_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

/* VPU_ERR_COMPILE  a function that is neither defined nor a built-in, or a
 *                  built-in used in a way not supported (file:line:col) */
vpu_status expand_builtins(LLVMModuleRef m, const char *path, vpu_error *err);

/* A wait for so many events reads each of them; else it is for all transfers
 * there were. */
bool expand_reads_events(LLVMValueRef n);

#endif
