/* Integers of more than 64 bits, which no SHAVE has, where they only carry
 * narrower ones. Internal to sim/compiler. */
#ifndef VPU_SIM_COMPILER_MIDDLE_NARROW_H
#define VPU_SIM_COMPILER_MIDDLE_NARROW_H

#include <llvm-c/Core.h>

/* Loads of such an integer of which only whole pieces are used become loads of
 * these pieces. Passes make them of a structure or a vector that is copied and
 * read in part. */
void narrow_loads(LLVMModuleRef m);

#endif
