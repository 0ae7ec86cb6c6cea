/* Inferences of a session, run one after the other by a thread. Their times are
 * those of inferences at once, where a program has executors and the host has
 * asked for its next result. */
#ifndef VPU_RUNTIME_STICK_JOBS_H
#define VPU_RUNTIME_STICK_JOBS_H

#include "runtime/link/xlink.h"
#include "runtime/stick/program.h"

enum { JOBS_MAX = 64, JOBS_MAX_MESSAGE = 120 };

typedef struct stick_jobs stick_jobs;

/* What the last inference of a program left. Under the jobs' lock: read with
 * stick_jobs_wait before. */
typedef struct {
    stick_program *program;
    uint32_t executors;
    float *ms;                      /* n_stages + 2 */
    char message[JOBS_MAX_MESSAGE]; /* why it failed, or what it was */
} stick_loaded;

typedef struct {
    xlink *xlink;
    const log_sink *log;
    const atomic_bool *stop; /* ends waits; or NULL */
    uint32_t result_bytes;   /* UINT32_MAX = as many as there are */
    uint32_t no_result; /* from which inference on none is sent; 0 = never */
} stick_jobs_config;

vpu_status stick_jobs_start(const stick_jobs_config *c, stick_jobs **out,
                            vpu_error *err);
/* Waits for the job that runs; the link should have failed, or it waits for
 * its reader. */
void stick_jobs_stop(stick_jobs *j);
/* Takes the input over (malloc'ed). False: JOBS_MAX wait already. */
bool stick_jobs_add(stick_jobs *j, stick_loaded *g, void *input,
                    uint32_t output_stream);
/* Until all are done, or *stop is set: the link has failed then. */
void stick_jobs_wait(stick_jobs *j);

#endif
