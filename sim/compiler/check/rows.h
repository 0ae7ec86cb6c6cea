/* Loops over work-items that the checkers look at as a whole. Where all items
 * take the same way and each access goes on by the same from item to item, the
 * first item's addresses tell all of them:
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
 *   i32  check_ask(i32 item, i32 nx, i32 ny, i32 nz)   0: not now. So many
 * items in each direction, the first one's number void check_row(i32 site, i32
 * ptr, i32 root, i32 x, i32 y, i32 z)   of the first item; the next one's is x
 * bytes behind, or y, or z i32  check_rows()                 0: some row needs
 * looks one by one, and nothing was noted; else all was
 */
#ifndef VPU_SIM_COMPILER_CHECK_ROWS_H
#define VPU_SIM_COMPILER_CHECK_ROWS_H

#include <llvm-c/Core.h>

#include "base/arena.h"
#include "sim/compiler/abi/site.h"

/* fn: a work-group function, behind instrument_end. */
void rows_find(LLVMValueRef fn, const sim_sites *sites, arena *a);

#endif
