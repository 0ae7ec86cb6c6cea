/* Points computed side by side, by processes that live on from point to point.
 * One that crashes, hangs or gets no memory costs its point, which is recorded
 * as failed, and is replaced. */
#ifndef VPU_RUNTIME_SWEEP_WORKERS_H
#define VPU_RUNTIME_SWEEP_WORKERS_H

#include <stdatomic.h>

#include "base/log.h"
#include "runtime/sweep/store.h"

typedef struct {
    unsigned n_workers;      /* at least 1, at most SWEEP_MAX_WORKERS */
    double timeout_s;        /* host's time for a point, 0 = no limit */
    uint64_t memory;         /* bytes that a worker may get, 0 = no limit */
    uint64_t part, parts;    /* points part, part + parts, ...; parts 0 = all */
    const atomic_bool *stop; /* set by a signal: workers are ended */
    const log_sink *log;
    /* In a new worker, before its first point. May be NULL. */
    void (*begin)(void *user);
    /* In a worker, with DIR/files as its working directory: figures of a point,
     * a new reference. VPU_ERR_STOPPED: it was interrupted. */
    vpu_status (*compute)(void *user, const sweep_words *words, json_t **out,
                          vpu_error *err);
    /* In a worker that was interrupted: ends the process. May be NULL. */
    void (*end)(void *user);
    void *user;
} sweep_workers_config;

enum { SWEEP_MAX_WORKERS = 1024 };

typedef struct {
    uint64_t points;   /* of this part */
    uint64_t there;    /* had a result before, or are equal to one that has */
    uint64_t computed; /* now */
    uint64_t failed;   /* now */
    bool stopped;      /* before all was done */
} sweep_tally;

/* Computes what has no result yet; failed points are recorded, and are no error
 * of this function. The process must have one thread.
 *
 * VPU_ERR_IO, VPU_ERR_NOMEM  a process or a result cannot be made
 * VPU_ERR_PARSE              points.jsonl is damaged */
vpu_status sweep_workers_run(const sweep_store *s,
                             const sweep_workers_config *config,
                             sweep_tally *out, vpu_error *err);

/* One worker for points that are not planned, one after the other. All-zero at
 * first, then the same for every point; sweep_single_end ends it. */
typedef struct {
    struct sweep_worker *worker; /* heap */
} sweep_single;

/* Computes the point, planned or not, unless it has a result. What fails is
 * recorded, and is no error. Else as sweep_workers_run; VPU_ERR_STOPPED: by
 * config->stop. */
vpu_status sweep_single_compute(sweep_single *s, const sweep_store *store,
                                const sweep_workers_config *config,
                                const sweep_point *point, vpu_error *err);
void sweep_single_end(sweep_single *s);

#endif
