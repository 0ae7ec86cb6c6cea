/* Kernel arguments that are structures by value: the front end passes a pointer
 * to private memory, where the caller has put them. There is no such caller:
 * hosts put the structure's bytes into device memory, and its address among the
 * arguments. */
#ifndef VPU_SIM_COMPILER_MIDDLE_STRUCTURES_H
#define VPU_SIM_COMPILER_MIDDLE_STRUCTURES_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "base/arena.h"

/* The bytes of parameter i if it is a structure by value, else 0. */
uint32_t structures_bytes(LLVMValueRef f, uint32_t i);
/* The kernel f with pointers to constant memory in the place of its structures,
 * each copied into a variable as the kernel begins; f itself if it has none,
 * else f is gone. Nothing calls it. */
LLVMValueRef structures_to_memory(LLVMValueRef f, arena *a);

#endif
