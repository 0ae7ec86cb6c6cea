/* What the tasks of submitted jobs do, as squeue tells it; needs no accounting.
 * Functions work on what they are given; slurm_tasks_ask is for one thread at a
 * time. */
#ifndef VPU_RUNTIME_SWEEP_SQUEUE_H
#define VPU_RUNTIME_SWEEP_SQUEUE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/file.h"
#include "runtime/sweep/slurm.h"

/* What a job of Slurm, or a task of an array, is about to do. */
typedef enum {
    SLURM_GONE,    /* ended so long ago that the controller has forgotten it */
    SLURM_ENDED,   /* see state: COMPLETED, FAILED, TIMEOUT … */
    SLURM_HELD,    /* waits for a person */
    SLURM_WAITING, /* for a node, or for another job */
    SLURM_RUNNING,
    SLURM_N_STAGES
} slurm_stage;

typedef struct {
    uint64_t job; /* of the array */
    int64_t task; /* -1: the job is no array */
    slurm_stage stage;
    const char *state, *reason, *nodes; /* squeue's words; "" = none */
} slurm_task;

typedef struct {
    slurm_task *items;
    size_t n, cap;
} slurm_tasks;

/* Of lines "5_3|PENDING|Resources|NODES", as squeue prints them for
 * SLURM_FORMAT with --array.
 *
 * VPU_ERR_PARSE  another line (message: its number, and what it says) */
#define SLURM_FORMAT "%i|%T|%r|%N"
vpu_status slurm_tasks_parse(const file_bytes *text, arena *a, slurm_tasks *out,
                             vpu_error *err);

/* Asks squeue about these jobs; those that it has forgotten are not in *out.
 *
 * the errors of slurm_ask and slurm_tasks_parse */
vpu_status slurm_tasks_ask(const uint64_t *jobs, size_t n, arena *a,
                           slurm_tasks *out, vpu_error *err);

/* What becomes of part `part` of a submission, or of its job that gathers (part
 * -1). */
slurm_stage slurm_stage_of(const slurm_tasks *t, const slurm_submission *s,
                           int64_t part);

#endif
