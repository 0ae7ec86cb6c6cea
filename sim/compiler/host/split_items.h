/* Loops over work-items by what their conditions say.
 *
 * A loop over the items of a group with `if (i < n)` in it, n the same for all
 * items, becomes a loop over pieces: within one, the condition does not change
 * and is decided before its first item. The passes behind then make a loop of
 * its own for either value, and none where only cycles are added.
 *
 * Conditions: == != < <= > >=, signed or not, of the item's number plus
 * something that is the same for all items, 32 bits, wrapping round as the
 * device does, with what is the same for all items, perhaps computed by each.
 */
#ifndef VPU_SIM_COMPILER_HOST_SPLIT_ITEMS_H
#define VPU_SIM_COMPILER_HOST_SPLIT_ITEMS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/arena.h"

/* Splits loops of a host function that has not been optimised yet: those whose
 * last branch has !vpu.items, goes to the first block while there are more
 * items and else to a block that nothing else leads to. Loops of another form
 * than the work-group pass makes stay as they are. checked: the checkers have
 * put their instructions into it. */
void split_item_loops(LLVMValueRef fn, bool checked, arena *a);

#endif
