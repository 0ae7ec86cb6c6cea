/* Source lines of code that passes move. Internal to sim/compiler.
 *
 * LLVM takes the line from what it moves out of a loop, lest a debugger jump
 * back and forth. A load that costs most of a kernel's time, or a store that
 * faults, has to keep it. */
#ifndef VPU_SIM_COMPILER_MIDDLE_PLACES_H
#define VPU_SIM_COMPILER_MIDDLE_PLACES_H

#include <llvm-c/Core.h>

/* Before passes that inline nothing: each instruction notes its place where
 * passes leave it alone. After them: those that have lost it have it again. */
void places_keep(LLVMModuleRef m);
void places_restore(LLVMModuleRef m);

#endif
