/* Host threads that are kept from launch to launch: to make and end one takes
 * as long as a short launch.
 *
 * While no job runs and nothing is watched these threads hold no lock but their
 * own: so the process can be copied (base/task.h) between launches, and what
 * runs in the copy may allocate. */
#ifndef VPU_SIM_EXEC_THREADS_H
#define VPU_SIM_EXEC_THREADS_H

#include <stdbool.h>

typedef struct exec_threads exec_threads;

/* None yet; they are made when they are needed. NULL: no memory. */
exec_threads *exec_threads_create(void);
/* With no job running. NULL is fine. */
void exec_threads_destroy(exec_threads *t);

/* Runs job(arg) on a thread of its own. False: none is to be had. One thread
 * at a time calls this and exec_threads_join. */
bool exec_threads_run(exec_threads *t, void (*job)(void *arg), void *arg);
/* Waits until all jobs that have begun have returned, and takes the others
 * back: jobs share their work, and the caller takes part until none is left. */
void exec_threads_join(exec_threads *t);

/* Calls strike(arg) on a thread of its own if exec_threads_unwatch is not
 * called within so many seconds, and then again and again until it is. One at a
 * time; strike must return soon and not
 * call any of these. Where no thread is to be had nobody watches. */
void exec_threads_watch(exec_threads *t, double seconds,
                        void (*strike)(void *arg), void *arg);
/* Strikes now, as if the time were over. From any thread; nothing where nothing
 * is watched. */
void exec_threads_hurry(exec_threads *t);
/* strike has returned or will not be called. */
void exec_threads_unwatch(exec_threads *t);

#endif
