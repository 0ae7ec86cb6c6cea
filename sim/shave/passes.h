/* The steps between selection and a finished program, in their order. */
#ifndef VPU_SIM_SHAVE_PASSES_H
#define VPU_SIM_SHAVE_PASSES_H

#include "sim/shave/vprog.h"

/* Registers live on entry to and exit from each block, one bit each. */
typedef struct {
    uint64_t **in, **out;
    uint32_t words;
} liveness;

void liveness_compute(const vprog *p, arena *a, liveness *l);

/* Loops around each block: 0 outside all. */
uint32_t *liveness_loop_depths(const vprog *p, arena *a);

/* Addresses in single-block loops that grow by the same amount each time get
 * registers of their own, stepped by the accesses themselves. Before phis are
 * removed. */
void strength_reduce(vprog *p);

/* Phis become copies at the ends of predecessors; what can share a register
 * does. Afterwards registers may be written in several places. */
void phis_remove(vprog *p);

/* Dependences of a block's operations, in program order. */
typedef struct {
    uint32_t from, to;
    int32_t lat; /* to issues at least so many cycles after from */
} deps_edge;

typedef struct {
    deps_edge *list;
    size_t n, cap;
} deps_list;

void deps_of_block(const vp_block *b, arena *a, deps_list *out);
/* May two accesses touch the same bytes? Same base register means the same
 * value: callers compare only within its lifetime. */
bool deps_may_alias(const vp_op *a, const vp_op *b, bool same_base_value);
uint32_t deps_latency(const isa_instr *i, unsigned dst);

/* Issue cycles and slots of a block: list scheduling, longest path first.
 * `room` registers of each file may be alive at once: operations go ahead of
 * program order as far as that allows (UINT32_MAX: as far as they like). in and
 * out are the block's rows of its liveness. Operations stay in program order;
 * their cycles and block->cycles are set. */
void schedule_block(const vprog *p, vp_block *b, const uint64_t *in,
                    const uint64_t *out, uint32_t room, arena *scratch);

/* Assigns the machine's registers to a scheduled program. */
typedef enum {
    ASSIGN_DONE,
    /* Registers that do not fit go to private memory: their code is inserted;
     * schedule again and come back. */
    ASSIGN_SPILLED,
    /* A software-pipelined loop cannot have all it needs; no_pipeline of its
     * basic block is set, and the program must be built anew. */
    ASSIGN_NO_PIPELINE
} registers_outcome;

/* When not all fits. */
typedef struct {
    bool allowed; /* without, ASSIGN_SPILLED changes nothing: schedule more
                     narrowly */
    /* Registers of each file that what is kept leaves alone, for the scheduler
     * to overlap operations in. */
    uint32_t spare;
} registers_spill_policy;

registers_outcome registers_assign(vprog *p,
                                   const registers_spill_policy *policy,
                                   uint32_t *n_spills, bool *no_pipeline);

#endif
