/* The points of a sweep that are still to be computed. */
#ifndef VPU_RUNTIME_SWEEP_PENDING_H
#define VPU_RUNTIME_SWEEP_PENDING_H

#include "runtime/sweep/workers.h"

/* A line of points.jsonl. */
typedef struct {
    uint64_t number, at;
    size_t n;
} sweep_pending;

/* Those of part `part` of `parts` (0 = all points) without a result, in their
 * order; of equal points the first one, whatever part it is of. Adds to
 * tally->points and tally->there. In the arena.
 *
 * VPU_ERR_IO, VPU_ERR_PARSE  points.jsonl */
vpu_status sweep_pending_find(const sweep_store *s, uint64_t part,
                              uint64_t parts, arena *a, sweep_pending **out,
                              size_t *n, sweep_tally *tally, vpu_error *err);

#endif
