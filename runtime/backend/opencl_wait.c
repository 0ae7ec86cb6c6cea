/* A thread waits; the caller waits for it. */
#include "runtime/backend/opencl_wait.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    const opencl_api *cl;
    cl_command_queue queue;
    cl_event event;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done, abandoned;
    cl_int code;
} waiter;

/* Drivers may run kernels inside clFlush: so it is called here too. */
static cl_int wait_for(const opencl_api *cl, cl_command_queue q, cl_event e)
{
    cl_int code = cl->Flush(q);

    return code ? code : cl->WaitForEvents(1, &e);
}

static void waiter_free(waiter *w)
{
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static void *wait_thread(void *p)
{
    waiter *w = p;
    cl_int code = wait_for(w->cl, w->queue, w->event);
    bool abandoned;

    pthread_mutex_lock(&w->lock);
    w->code = code;
    w->done = true;
    abandoned = w->abandoned;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    if (abandoned)
        waiter_free(w);
    return NULL;
}

static struct timespec deadline(double seconds)
{
    struct timespec t;
    double whole = floor(seconds);

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)whole;
    t.tv_nsec += (long)((seconds - whole) * 1e9);
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    return t;
}

/* Null when there is no thread to be had. */
static waiter *start(const opencl_api *cl, cl_command_queue queue,
                     cl_event event)
{
    waiter *w = calloc(1, sizeof *w);
    pthread_condattr_t monotonic;
    pthread_t thread;

    if (!w)
        return NULL;
    w->cl = cl;
    w->queue = queue;
    w->event = event;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&thread, NULL, wait_thread, w)) {
        waiter_free(w);
        return NULL;
    }
    pthread_detach(thread);
    return w;
}

bool opencl_wait(const opencl_api *cl, cl_command_queue queue, cl_event event,
                 double timeout_s, cl_int *code)
{
    struct timespec until = deadline(timeout_s);
    waiter *w = timeout_s > 0 ? start(cl, queue, event) : NULL;
    bool done;
    int rc = 0;

    if (!w) {
        *code = wait_for(cl, queue, event);
        return true;
    }
    pthread_mutex_lock(&w->lock);
    while (!w->done && !rc)
        rc = pthread_cond_timedwait(&w->ended, &w->lock, &until);
    done = w->done;
    *code = w->code;
    w->abandoned = !done;
    pthread_mutex_unlock(&w->lock);
    if (done)
        waiter_free(w);
    return done;
}
