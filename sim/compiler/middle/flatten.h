/* Short conditions without branches.
 *
 * A branch costs its six delay slots and cuts a loop into blocks, which are
 * neither pipelined nor scheduled together. Where both ways are a few
 * operations that can do no harm when they run in vain, both run, and what
 * follows takes one of the results. Nothing that touches memory moves: a load
 * may fault, and a store cannot be taken back. */
#ifndef VPU_SIM_COMPILER_MIDDLE_FLATTEN_H
#define VPU_SIM_COMPILER_MIDDLE_FLATTEN_H

#include <llvm-c/Core.h>

void flatten(LLVMModuleRef m);

#endif
