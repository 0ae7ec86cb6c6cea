/* Follows values nobody wrote from where they begin (a variable's first value,
 * bytes of memory never written) to where they matter: a condition, an address
 * or size, a store to global memory. Every value gets a companion of one i32 a
 * lane, the site it came from, 0 = defined. In device IR, before work-groups
 * are built; adds to what instrument.h lists
 *
 *   i32 or <N x i32>  check_origins.N(i32 site, ptr)   of bytes loaded
 *   void check_taint.N(i32 site, ptr, i32 or <N x i32>)  of bytes stored
 *   void check_use(i32 site, i32 origin)                it matters here
 */
#ifndef VPU_SIM_COMPILER_CHECK_TAINT_H
#define VPU_SIM_COMPILER_CHECK_TAINT_H

#include "sim/compiler/check/instrument.h"

/* fn's accesses are instrumented. */
void taint_follow(instrument *x, LLVMValueRef fn, sim_variant_kind variant);

#endif
