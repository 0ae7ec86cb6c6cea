/* Work done in a copy of this process: it can be stopped when it takes too
 * much, and what it breaks is its own.
 *
 * The copy has this process's memory as it is, and one thread. So work may use
 * whatever no other thread holds a lock of at that moment; the C library's own
 * locks are free in it. A copy that waits for a lock which nobody gives back is
 * ended after two seconds, and the work starts again in a new copy, four times
 * at most: work shall do nothing that others see before it returns. */
#ifndef VPU_BASE_TASK_H
#define VPU_BASE_TASK_H

#include <pthread.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/child.h"

typedef struct {
    const unsigned char *bytes;
    size_t n;
} task_input;

/* Puts its result in the arena: *n bytes at *out. */
typedef vpu_status task_fn(void *user, arena *a, unsigned char **out, size_t *n,
                           vpu_error *err);

typedef enum {
    TASK_DONE,   /* it returned; its status and error are the caller's */
    TASK_TIME,   /* limits.seconds were over */
    TASK_MEMORY, /* it needed more than limits.bytes */
    TASK_DIED    /* a signal ended it, or it waited for ever */
} task_end;

typedef struct {
    task_fn *work;
    void *user;
    child_limits limits;
    /* Taken while the process is copied and free in the copy, so that what it
     * guards is whole there; NULL = nothing. */
    pthread_mutex_t *held;
    /* For copies that are made early, before all that the work needs is known
     * (task_begin). There prepare runs first, and is not counted as memory;
     * false: there can be no such copy. Then *input, whose bytes the work reads
     * in any copy, becomes what it is for task_run. */
    bool (*prepare)(void *user);
    task_input *input;
} task_job;

typedef struct {
    unsigned char *bytes; /* in the arena; NULL unless TASK_DONE */
    size_t n;
    task_end end;
} task_result;

/* A copy that prepares itself while this process goes on. */
typedef struct task_copy task_copy;

/* With all that user is now, but for *input. It is ended by task_run or
 * task_drop, which the calling thread has to call. NULL: there can be none, and
 * task_run makes a copy of its own. */
task_copy *task_begin(const task_job *job);
void task_drop(task_copy *c); /* NULL is fine */
/* Its *input, before task_run, which is then to be given the same: the copy
 * begins to work. Later ones have no effect. */
void task_give(const task_job *job, task_copy *c);

/* early: of the same job, or NULL.
 *
 * TASK_DONE: the status is work's, VPU_ERR_INTERNAL for more than 1 GiB of
 * result. Otherwise it is VPU_ERR_LIMIT or VPU_ERR_INTERNAL, with a message
 * that says what happened ("took more than 5 s of the processor's time") in
 * want of what was done. VPU_ERR_IO: no process can be started; then, too,
 * out->end is TASK_DIED. */
vpu_status task_run(const task_job *job, task_copy *early, arena *a,
                    task_result *out, vpu_error *err);

/* Whether a program that failed says in its messages that memory was short. */
bool task_says_short(const char *messages);

#endif
