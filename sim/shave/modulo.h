/* Modulo scheduling of one loop body: issue times such that a new iteration can
 * start every `interval` cycles. */
#ifndef VPU_SIM_SHAVE_MODULO_H
#define VPU_SIM_SHAVE_MODULO_H

#include "sim/shave/vprog.h"

/* Iterations in the pipeline at once. */
enum { MOD_MAX_STAGES = 12 };

/* to issues at least lat cycles after from of `distance` iterations before. */
typedef struct {
    uint32_t from, to;
    int32_t lat;
    uint32_t distance;
} modulo_edge;

typedef struct {
    const vp_op *ops; /* in program order */
    uint32_t n_ops;
    modulo_edge *edges;
    size_t n_edges, edges_cap;
    /* The result */
    uint32_t *time;
    uint8_t *unit;
    uint32_t interval, stages;
} modulo_loop;

/* False: its operations need more cycles than any interval has, whatever their
 * edges are. */
bool modulo_may_fit(const modulo_loop *l);
/* Tries intervals below `limit`; false when none works. Iterative modulo
 * scheduling (Rau): highest first, what is in the way is put back. Memory comes
 * from a. */
bool modulo_schedule(modulo_loop *l, uint32_t limit, arena *a);

#endif
