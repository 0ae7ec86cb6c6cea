/* Loops over work-items that the checkers look at as a whole. Where all items
 * of a loop take the same way and each access is an element further on from
 * item to item, the first item's addresses tell all of them:
 *
 *     before                 before
 *       |                      |
 *     header <-+    becomes  ask ----> rows of the first item ----+
 *      ...     |               | no        | no                   | yes
 *     latch ---+               +-----+-----+                      |
 *       |                            |                            |
 *     exit                    the loop as it was          the loop, unchecked
 *                                    |                            |
 *                                    +-----------> exit <---------+
 *
 *   i32  check_ask(i32 n, i32 item)   0: not now; of n items, the first of them
 *   void check_row(i32 site, i32 ptr, i32 root, i32 step)   of the first item;
 *                                     the next one's is step bytes behind
 *   i32  check_rows()                 0: some row needs looks one by one, and
 *                                     nothing was noted; else all was
 */
#ifndef VPU_SIM_COMPILER_CHECK_ROWS_H
#define VPU_SIM_COMPILER_CHECK_ROWS_H

#include <llvm-c/Core.h>

#include "base/arena.h"
#include "sim/compiler/abi/site.h"

/* fn: a work-group function, behind instrument_end. */
void rows_find(LLVMValueRef fn, const sim_sites *sites, arena *a);

#endif
