/* Built-in calls to plain IR. After this pass a module calls nothing but LLVM
 * intrinsics, the mathematical routines (__vpu_<name>_f16/_f32), and the
 * operations below, which later passes give their meaning:
 *
 *   i32  __vpu_lid<d> lsz<d> grp<d> ngrp<d> off<d>    d = 0, 1, 2; no side
 * effects void __vpu_barrier() i32  __vpu_dma(ptr dst, ptr src, to_cmx, bytes
 * per plane, src width, dst width, src pitch, dst pitch, planes, src plane
 * pitch, dst plane pitch, line)                                        all i32;
 * pointers as i32 void __vpu_wait(i32 n)      waits for the transfers numbered
 * below n half __vpu_half_z/_p/_n(float)                    directed rounding
 *   float __vpu_float_{i,u}{z,p,n}(i64)               likewise, from integers
 *   void __vpu_printf(i32 format, i32 args, i32 n)    device addresses
 *
 * __vpu_dma returns the transfer's number in its group plus one: what OpenCL's
 * event_t holds. Barrier, dma and wait are collective: every item of the group
 * must reach them, and they happen once. */
#ifndef VPU_SIM_COMPILER_EXPAND_H
#define VPU_SIM_COMPILER_EXPAND_H

#include <llvm-c/Core.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"

/* VPU_ERR_COMPILE  a function that is neither defined nor a built-in, or a
 *                  built-in used in a way not supported (file:line:col) */
vpu_status expand_builtins(LLVMModuleRef m, const char *path, vpu_error *err);

#endif
