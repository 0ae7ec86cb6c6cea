/* Threads kept from launch to launch. */
#include "sim/exec/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

enum { MOST = 80 };

/* A thread looks out for what may come before it sleeps: to wake it takes about
 * as long. */
static const double SPIN_S = 100e-6;

static const double LONGEST_S = 1e9, AGAIN_S = 0.02;

typedef struct {
    pthread_t id;
    pthread_cond_t wake;
    exec_threads *of;
    atomic_bool wanted; /* has a job, or is to quit */
    bool lives, begun;  /* it has started; its job runs */
    void (*job)(void *);
    void *arg;
} member;

struct exec_threads {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    atomic_uint running;
    bool quit;
    uint32_t n;
    member members[MOST];
    /* The watch. Its thread sleeps until the time of some watch, also of one
     * that is over: so a short launch need not wake it. */
    pthread_t watcher;
    bool has_watcher, watches;
    pthread_cond_t sooner, begins;
    void (*strike)(void *); /* NULL: nothing to watch */
    void *strike_arg;
    double due, wakes; /* when; 0: it sleeps until it is woken */
};

static void *live(void *arg)
{
    member *m = arg;
    exec_threads *t = m->of;

    pthread_mutex_lock(&t->lock);
    m->lives = true;
    pthread_mutex_unlock(&t->lock);
    for (;;) {
        double until = clock_seconds() + SPIN_S;

        while (!m->wanted && clock_seconds() < until)
            ;
        pthread_mutex_lock(&t->lock);
        while (!m->wanted)
            pthread_cond_wait(&m->wake, &t->lock);
        if (!m->job)
            break;
        m->begun = true;
        pthread_mutex_unlock(&t->lock);
        m->job(m->arg);
        pthread_mutex_lock(&t->lock);
        m->begun = false;
        m->job = NULL;
        m->wanted = t->quit;
        if (!--t->running)
            pthread_cond_signal(&t->idle);
        pthread_mutex_unlock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

exec_threads *exec_threads_create(void)
{
    exec_threads *t = calloc(1, sizeof *t);
    pthread_condattr_t monotonic;

    if (!t)
        return NULL;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->idle, NULL);
    pthread_cond_init(&t->begins, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&t->sooner, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return t;
}

void exec_threads_destroy(exec_threads *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->quit = true;
    for (uint32_t i = 0; i < t->n; i++) {
        t->members[i].wanted = true;
        pthread_cond_signal(&t->members[i].wake);
    }
    pthread_cond_signal(&t->sooner);
    pthread_mutex_unlock(&t->lock);
    if (t->has_watcher)
        pthread_join(t->watcher, NULL);
    for (uint32_t i = 0; i < t->n; i++) {
        pthread_join(t->members[i].id, NULL);
        pthread_cond_destroy(&t->members[i].wake);
    }
    pthread_cond_destroy(&t->sooner);
    pthread_cond_destroy(&t->begins);
    pthread_cond_destroy(&t->idle);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* A thread without a job, a new one if need be. Lock held. */
static member *free_member(exec_threads *t)
{
    member *m;

    for (uint32_t i = 0; i < t->n; i++)
        if (!t->members[i].job)
            return &t->members[i];
    if (t->n == MOST)
        return NULL;
    m = &t->members[t->n];
    m->of = t;
    pthread_cond_init(&m->wake, NULL);
    if (pthread_create(&m->id, NULL, live, m)) {
        pthread_cond_destroy(&m->wake);
        return NULL;
    }
    t->n++;
    return m;
}

bool exec_threads_run(exec_threads *t, void (*job)(void *arg), void *arg)
{
    member *m;

    pthread_mutex_lock(&t->lock);
    m = free_member(t);
    if (m) {
        t->running++;
        m->job = job;
        m->arg = arg;
        m->wanted = true;
        pthread_cond_signal(&m->wake);
    }
    pthread_mutex_unlock(&t->lock);
    return m;
}

/* On a busy machine a thread may get a processor long after the rest has done
 * its work. One that is only starting is waited for: it allocates then, and a
 * copy of the process could never allocate. Lock held. */
static void withdraw(exec_threads *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        member *m = &t->members[i];

        if (m->job && m->lives && !m->begun) {
            m->job = NULL;
            m->wanted = false;
            t->running--;
        }
    }
}

void exec_threads_join(exec_threads *t)
{
    double until = clock_seconds() + SPIN_S;

    pthread_mutex_lock(&t->lock);
    withdraw(t);
    pthread_mutex_unlock(&t->lock);
    while (t->running && clock_seconds() < until)
        ;
    pthread_mutex_lock(&t->lock);
    while (t->running)
        pthread_cond_wait(&t->idle, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

/* --- the watch ----------------------------------------------------------- */

static void *watch(void *arg)
{
    exec_threads *t = arg;

    pthread_mutex_lock(&t->lock);
    t->watches = true;
    pthread_cond_signal(&t->begins);
    while (!t->quit) {
        if (t->strike && clock_seconds() >= t->due) {
            t->strike(t->strike_arg);
            t->due = clock_seconds() + AGAIN_S;
        }
        t->wakes = t->strike ? t->due : 0;
        if (t->wakes > 0) {
            struct timespec at = {.tv_sec = (time_t)t->wakes};

            at.tv_nsec = (long)((t->wakes - (double)at.tv_sec) * 1e9);
            pthread_cond_timedwait(&t->sooner, &t->lock, &at);
        } else {
            pthread_cond_wait(&t->sooner, &t->lock);
        }
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Waits until it runs: to start, a thread allocates, and a copy of the process
 * made then could never allocate. Lock held. */
static void start_watcher(exec_threads *t)
{
    t->has_watcher = !pthread_create(&t->watcher, NULL, watch, t);
    while (t->has_watcher && !t->watches)
        pthread_cond_wait(&t->begins, &t->lock);
}

void exec_threads_watch(exec_threads *t, double after,
                        void (*strike)(void *arg), void *arg)
{
    pthread_mutex_lock(&t->lock);
    t->strike = strike;
    t->strike_arg = arg;
    t->due = clock_seconds() + (after < LONGEST_S ? after : LONGEST_S);
    if (!t->has_watcher)
        start_watcher(t);
    else if (!(t->wakes > 0) || t->wakes > t->due)
        pthread_cond_signal(&t->sooner);
    pthread_mutex_unlock(&t->lock);
}

void exec_threads_hurry(exec_threads *t)
{
    pthread_mutex_lock(&t->lock);
    t->due = 0;
    pthread_cond_signal(&t->sooner);
    pthread_mutex_unlock(&t->lock);
}

void exec_threads_unwatch(exec_threads *t)
{
    pthread_mutex_lock(&t->lock);
    t->strike = NULL;
    pthread_mutex_unlock(&t->lock);
}
