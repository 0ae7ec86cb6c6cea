/* Successive halving: a round for each value of one dimension, the cheapest
 * first; the better half of a round's points go on to the next. */
#ifndef VPU_RUNTIME_SWEEP_ROUNDS_H
#define VPU_RUNTIME_SWEEP_ROUNDS_H

#include "runtime/sweep/store.h"

/* Points of all rounds; of other methods n, those that are planned. */
uint64_t sweep_rounds_points(const sweep_manifest *m, uint64_t n);

/* Adds the next round to points.jsonl, when all points of the last one have
 * results: *more. What it adds follows from the results alone, so any number of
 * processes may do it. Other methods have nothing to add.
 *
 * VPU_ERR_PARSE  points.jsonl or candidates.jsonl is damaged
 * VPU_ERR_IO */
vpu_status sweep_rounds_extend(const sweep_store *s, bool *more,
                               vpu_error *err);

#endif
