/* Running commands side by side, each in a process group of its own, so that
 * one that crashes or hangs takes nothing else along. */
#ifndef VPU_RUNTIME_SUITE_JOBS_H
#define VPU_RUNTIME_SUITE_JOBS_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

typedef struct {
    char *const *argv; /* NULL at the end; argv[0] is a path */
    const char *dir;   /* to run in */
    /* After it ended: */
    int exit_status; /* 0 .. 255; -1: it did not end by itself */
    int signal;      /* that ended it, 0 = none */
    bool timed_out;
    bool interrupted; /* by jobs_config.stop; one that was not begun has no
                         exit status either */
    double seconds;
    str out, errors; /* standard output and error, each cut at 16 MiB;
                        job_free */
} job;

typedef struct {
    unsigned n_parallel; /* at most so many at a time */
    double timeout_s;    /* for each, 0 = no limit; then it is asked to end, and
                            killed with all it started when it does not */
    /* Set by a signal: nothing more is begun, and what runs is asked to end.
     * NULL = nobody sets it. */
    const atomic_bool *stop;
    /* If not NULL: called from the thread of jobs_run as number i ends. */
    void (*done)(void *user, size_t i);
    void *user;
} jobs_config;

/* Run all n. What ends this program ends what runs (base/child.h).
 *
 * VPU_ERR_NOMEM, VPU_ERR_IO  a process or a temporary file could not be made;
 *                            what was running is killed */
vpu_status jobs_run(job *jobs, size_t n, const jobs_config *config,
                    vpu_error *err);
void job_free(job *j);

#endif
