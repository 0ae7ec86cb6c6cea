/* What is there of a sweep, and what its jobs are about to add. Thread-safe. */
#ifndef VPU_RUNTIME_SWEEP_STATUS_H
#define VPU_RUNTIME_SWEEP_STATUS_H

#include "runtime/sweep/squeue.h"
#include "runtime/sweep/store.h"

/* A point without a result whose last try failed. */
typedef struct {
    uint64_t number;
    const char *why;
} sweep_failure;

typedef struct {
    uint64_t n, n_done; /* points, and those that have a result */
    uint64_t n_later;   /* of halving: of rounds that are not planned yet */
    bool *done;         /* [n] */
    sweep_failure *failures; /* in the order of their numbers */
    size_t n_failures;
} sweep_status;

/* From the files alone, in the arena.
 *
 * VPU_ERR_IO, VPU_ERR_PARSE  points.jsonl */
vpu_status sweep_status_read(const sweep_store *s, arena *a, sweep_status *out,
                             vpu_error *err);

/* Points without a result that are of part `part` of `parts`. */
uint64_t sweep_status_missing(const sweep_status *s, uint64_t part,
                              uint64_t parts);

/* Points without a result by what the task that is to compute them does; where
 * several are, by the one that is furthest. GONE: none is. */
void sweep_status_outlook(const sweep_status *s, const slurm_record *r,
                          const slurm_tasks *t, arena *a,
                          uint64_t points[SLURM_N_STAGES]);

#endif
