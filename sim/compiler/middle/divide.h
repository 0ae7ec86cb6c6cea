/* Integer division that may be moved.
 *
 * For LLVM a division by what might be zero must stay where the program put it;
 * on the device it cannot trap (isa/ops.def), so one that all iterations of a
 * loop agree on may be done once in front of it, like any other arithmetic.
 * While passes move code, divisions by variables stand as calls that are free
 * of effects. */
#ifndef VPU_SIM_COMPILER_MIDDLE_DIVIDE_H
#define VPU_SIM_COMPILER_MIDDLE_DIVIDE_H

#include <llvm-c/Core.h>

void divisions_hide(LLVMModuleRef m);
/* Back to instructions. Passes that believe in traps must not run behind. */
void divisions_show(LLVMModuleRef m);

#endif
