/* SHAVEs by turns on one thread: each is a context of its own that runs until
 * its code comes to exec_yield. */
#ifndef VPU_SIM_EXEC_INTERLEAVE_H
#define VPU_SIM_EXEC_INTERLEAVE_H

#include "sim/exec/shave.h"

/* Until every SHAVE has ended its groups, filled its queue, or stopped. *turn:
 * state of the random order, goes on from round to round.
 *
 * VPU_ERR_NOMEM  no stacks */
vpu_status interleave_round(exec_shave *shaves, uint32_t n, exec_turns turns,
                            uint64_t *turn, vpu_error *err);

#endif
