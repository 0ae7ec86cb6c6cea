/* List scheduling of one block's operations into bundles. */
#ifndef VPU_SIM_COMPILER_SCHEDULE_H
#define VPU_SIM_COMPILER_SCHEDULE_H

#include "isa/program.h"
#include "sim/base/arena.h"

/* `to` may issue at least `lat` cycles after `from`; from < to. */
typedef struct {
    uint32_t from, to, lat;
} sched_edge;

/* Fills unit and cycle of n instructions (program order, dependences in edges)
 * and sorts them by cycle, then unit. lives_out[i]: the value of i is used
 * behind the block, which then lasts until it is there. A branch, if any, is
 * last; its delay slots are part of the block. Returns the block's cycles. */
uint32_t schedule_block(isa_instr *instrs, uint32_t n, const sched_edge *edges,
                        uint32_t n_edges, const unsigned char *lives_out,
                        arena *scratch);

#endif
