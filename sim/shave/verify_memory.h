/* Is memory touched in the order the IR asks for?
 *
 * Looks at a finished program and the IR it was made from, and at nothing in
 * between: neither the scheduler's dependences nor its idea of aliases. */
#ifndef VPU_SIM_SHAVE_VERIFY_MEMORY_H
#define VPU_SIM_SHAVE_VERIFY_MEMORY_H

#include "sim/shave/shave.h"

/* NULL, or what is wrong: two accesses that may meet, at least one a store,
 * happen the other way round than in fn, in one iteration or across iterations
 * of a pipelined loop; a store is not there as a whole; an access stands in
 * another block than its IR. *block and *instr (of the block) say where. */
const char *verify_memory(LLVMValueRef fn, const shave_program *p,
                          uint32_t *block, uint32_t *instr);

#endif
