/* One worker: a process that computes point after point. */
#ifndef VPU_RUNTIME_SWEEP_WORKER_H
#define VPU_RUNTIME_SWEEP_WORKER_H

#include <sys/types.h>

#include "runtime/sweep/pending.h"

typedef enum {
    SWEEP_DONE,    /* its result is kept */
    SWEEP_FAILED,  /* why is kept */
    SWEEP_STOPPED, /* it was interrupted */
    SWEEP_BROKEN   /* nothing can be kept: no disk, no point */
} sweep_answer_kind;

/* What a worker says of a point. */
typedef struct {
    int kind;      /* a sweep_answer_kind */
    int retires;   /* it has grown, or memory was short: it ends now */
    vpu_error err; /* BROKEN: why */
} sweep_answer;

typedef struct sweep_worker {
    pid_t pid; /* 0 = none */
    int fd;    /* points go there, answers come back */
    int said;  /* a file in memory: its standard error */
    bool busy;
    const char *over; /* what it has exceeded, so that it is to end; NULL */
    bool asked;       /* to end, as all of them */
    double since;     /* it has had its point; asked: since when */
    uint64_t number;  /* of its point */
    char *line;       /* its point as it was sent; heap */
    size_t n;
} sweep_worker;

/* Starts the process; others: n of them whose descriptors it must not keep.
 * VPU_ERR_IO. */
vpu_status sweep_worker_start(sweep_worker *w, const sweep_store *s,
                              const sweep_workers_config *config,
                              const sweep_worker *others, size_t n,
                              vpu_error *err);
/* Gives it a point, a line of points.jsonl. False: it has ended. */
bool sweep_worker_send(sweep_worker *w, const char *line, size_t n);
/* Its answer, for which something is there to read. False: it has ended. */
bool sweep_worker_receive(sweep_worker *w, sweep_answer *out);
/* Ends it, by force when it does not at once; waitpid's status. */
int sweep_worker_end(sweep_worker *w, bool force);
/* Memory that it has, in bytes. */
uint64_t sweep_worker_bytes(const sweep_worker *w);
/* What it wrote to standard error about its point, cut at 4 KiB; in the arena.
 */
const char *sweep_worker_said(const sweep_worker *w, arena *a);

#endif
