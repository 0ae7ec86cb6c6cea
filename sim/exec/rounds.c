/* Threads, rounds, and the message for what stopped one. */
#include "sim/exec/rounds.h"

#include "sim/exec/interleave.h"
#include "sim/exec/stuck.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    /* Steps a SHAVE may be ahead of the clock: what bounds memory. Many more do
     * not stay in the host's caches until they are replayed. */
    QUEUE_STEPS = 2048,
    /* What a SHAVE runs in the first round; later ones grow. */
    FIRST_ROUND = 32
};

static const double SPIN_S = 100e-6;

/* --- threads
 * -------------------------------------------------------------------------- */

/* Runs SHAVEs of the current round until none is left; lock held on entry. */
static void take_shaves(launch_run *r)
{
    while (r->next_shave < r->n_shaves) {
        shave *s = &r->shaves[r->next_shave++];

        pthread_mutex_unlock(&r->lock);
        if (!s->queue->ended && s->scope.kind == FAULT_NONE)
            shave_run(s);
        pthread_mutex_lock(&r->lock);
    }
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* To wake a thread that sleeps takes about as long as what is waited for. */
static void spin_for_round(launch_run *r, uint64_t seen)
{
    double until = seconds() + SPIN_S;

    while (r->spins && r->round == seen && !r->quit && seconds() < until)
        ;
}

static void spin_for_others(launch_run *r)
{
    double until = seconds() + SPIN_S;

    while (r->spins && r->busy && seconds() < until)
        ;
}

static void *worker(void *arg)
{
    launch_run *r = arg;
    uint64_t seen = 0;

    for (;;) {
        spin_for_round(r, seen);
        pthread_mutex_lock(&r->lock);
        while (r->round == seen && !r->quit)
            pthread_cond_wait(&r->work, &r->lock);
        if (r->quit)
            break;
        seen = r->round;
        take_shaves(r);
        if (!--r->busy)
            pthread_cond_signal(&r->idle);
        pthread_mutex_unlock(&r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void stop_shaves(launch_run *r)
{
    atomic_store(&r->stop, true);
    /* Loops look at max_cycles on their way back. */
    for (uint32_t i = 0; i < r->n_shaves; i++)
        *(volatile uint64_t *)&r->shaves[i].wg.max_cycles = 0;
}

static void *watch(void *arg)
{
    launch_run *r = arg;
    struct timespec until;
    double whole = r->l->timeout_s;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)whole;
    until.tv_nsec += (long)((whole - (double)(time_t)whole) * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&r->lock);
    while (!r->quit && !pthread_cond_timedwait(&r->over, &r->lock, &until))
        ;
    if (!r->quit) {
        r->timed_out = true;
        stop_shaves(r);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static void start_threads(launch_run *r)
{
    uint32_t n = r->l->n_threads;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->over, NULL);
    pthread_cond_init(&r->work, NULL);
    pthread_cond_init(&r->idle, NULL);
    if (!n)
        n = cpus > 0 ? (uint32_t)cpus : 1;
    if (n > r->n_shaves)
        n = r->n_shaves;
    if (n > ROUNDS_MAX_THREADS)
        n = ROUNDS_MAX_THREADS;
    /* Kernels with global atomics see each other: one fixed order for all. */
    if (r->l->kernel->global_atomics || r->l->n_writers || r->l->observer ||
        r->l->debugger || r->l->turns != EXEC_APART)
        n = 1;
    r->spins = (long)n <= cpus;
    /* This thread works, too. A thread that cannot be had is not missed. */
    while (r->n_threads + 1 < n &&
           !pthread_create(&r->threads[r->n_threads], NULL, worker, r))
        r->n_threads++;
    r->watching =
        r->l->timeout_s > 0 && !pthread_create(&r->watchdog, NULL, watch, r);
}

static void stop_threads(launch_run *r)
{
    pthread_mutex_lock(&r->lock);
    r->quit = true;
    pthread_cond_broadcast(&r->work);
    pthread_cond_signal(&r->over);
    pthread_mutex_unlock(&r->lock);
    for (uint32_t i = 0; i < r->n_threads; i++)
        pthread_join(r->threads[i], NULL);
    if (r->watching)
        pthread_join(r->watchdog, NULL);
    pthread_cond_destroy(&r->over);
    pthread_cond_destroy(&r->idle);
    pthread_cond_destroy(&r->work);
    pthread_mutex_destroy(&r->lock);
}

/* --- rounds
 * ------------------------------------------------------------------------------
 */

/* The time or the cycles are over. */
static vpu_status describe_limit(const launch_run *r, const char *where,
                                 vpu_error *err)
{
    const exec_launch *l = r->l;
    str who = {0};
    vpu_status st;

    stuck_report(r->shaves, r->n_shaves, &who);
    if (r->timed_out)
        st = err_set(err, VPU_ERR_LIMIT,
                     "%s: still running after %g s (--timeout)%s", where,
                     l->timeout_s, str_text(&who));
    else
        st = err_set(err, VPU_ERR_LIMIT,
                     "%s: over %llu cycles on one SHAVE (--max-cycles)%s",
                     where, (unsigned long long)l->max_cycles, str_text(&who));
    str_free(&who);
    return st;
}

static vpu_status describe_access(const launch_run *r, const shave *s,
                                  const char *where, vpu_error *err)
{
    const char *what = s->scope.write ? "write" : "read";
    str at = {0};
    vpu_status st;

    memory_describe(r->mem, s->scope.address, &at);
    if (s->wg.line)
        st = err_at(err, VPU_ERR_FAULT, r->l->kernel->source, s->wg.line,
                    s->wg.col, "%s: %s outside mapped memory at 0x%08x: %s",
                    where, what, s->scope.address, str_text(&at));
    else
        st = err_set(err, VPU_ERR_FAULT,
                     "%s: %s outside mapped memory at 0x%08x: %s", where, what,
                     s->scope.address, str_text(&at));
    str_free(&at);
    return st;
}

static vpu_status describe_fault(launch_run *r, const shave *s, vpu_error *err)
{
    const exec_launch *l = r->l;
    str where = {0};
    vpu_status st;

    str_printf(&where, "%s: kernel '%s', ", l->name, l->kernel->name);
    stuck_group(l->groups, s->group, &where);
    switch (s->scope.kind) {
    case FAULT_ACCESS:
        st = describe_access(r, s, str_text(&where), err);
        break;
    case FAULT_DIVERGENCE:
        st = err_set(err, VPU_ERR_UNDEFINED,
                     "%s:%u: %s: not all work-items reach the same barrier",
                     l->kernel->source, s->scope.line, str_text(&where));
        break;
    case FAULT_COPY:
        st = err_set(err, VPU_ERR_UNDEFINED,
                     "%s:%u: %s: copy with lines of zero bytes",
                     l->kernel->source, s->scope.line, str_text(&where));
        break;
    case FAULT_MISSES:
        st = err_set(err, VPU_ERR_UNTESTED,
                     "%s: more than %d lines of DDR without a wait or copy in "
                     "between: --timing transaction was not made for that, "
                     "--timing flow is",
                     str_text(&where), MACH_MAX_MISSES);
        break;
    case FAULT_STOPPED:
        st = err_set(err, VPU_ERR_STOPPED, "%s: stopped", str_text(&where));
        break;
    default:
        st = describe_limit(r, str_text(&where), err);
    }
    str_free(&where);
    return st;
}

/* Gives on what is printed and before what is still to come: in sequential
 * order soon, in others when all is done. */
void rounds_deliver_prints(launch_run *r, bool all)
{
    uint64_t below = all ? UINT64_MAX : 0;

    if (!r->prints)
        return;
    if (!all && r->l->order == EXEC_SEQUENTIAL && !r->l->only_group &&
        !r->l->list) {
        below = UINT64_MAX;
        for (uint32_t i = 0; i < r->n_shaves; i++)
            if (r->shaves[i].next < r->shaves[i].end &&
                r->shaves[i].next < below)
                below = r->shaves[i].next;
    }
    print_log_deliver(r->prints, below, r->l->print, r->l->print_user);
}

static void report_progress(launch_run *r)
{
    uint64_t done = 0;

    for (uint32_t i = 0; i < r->n_shaves; i++)
        done += r->shaves[i].done;
    log_progress(r->l->log, r->l->name, done, r->shaves[0].n_groups);
}

static void start_round(launch_run *r)
{
    pthread_mutex_lock(&r->lock);
    r->next_shave = 0;
    r->busy = r->n_threads;
    r->round++;
    pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
    r->running = true;
}

/* Takes part in the round until it is over. */
static void finish_round(launch_run *r)
{
    pthread_mutex_lock(&r->lock);
    take_shaves(r);
    pthread_mutex_unlock(&r->lock);
    spin_for_others(r);
    pthread_mutex_lock(&r->lock);
    while (r->busy)
        pthread_cond_wait(&r->idle, &r->lock);
    pthread_mutex_unlock(&r->lock);
    r->running = false;
}

/* After a round: what it printed and which fault ended it. All SHAVEs ran their
 * whole round, so the first one that faulted is the same whatever the threads
 * did. */
static vpu_status round_result(launch_run *r, vpu_error *err)
{
    rounds_deliver_prints(r, false);
    report_progress(r);
    for (uint32_t i = 0; i < r->n_shaves; i++)
        if (r->shaves[i].scope.kind != FAULT_NONE) {
            r->faulted = true;
            return describe_fault(r, &r->shaves[i], err);
        }
    return VPU_OK;
}

/* How many steps each SHAVE adds in the next round. What rounds have follows
 * from the clock alone, not from threads. */
static void plan_round(launch_run *r, const mach_queue *queues)
{
    uint32_t limit;

    if (r->round_steps < QUEUE_STEPS / 2)
        r->round_steps += r->round_steps / 4;
    limit = 2 * r->round_steps;
    for (uint32_t i = 0; i < r->n_shaves; i++) {
        uint32_t left = queues[i].n - queues[i].head;

        r->shaves[i].room = left < limit ? limit - left : 1;
        if (r->shaves[i].room > r->round_steps)
            r->shaves[i].room = r->round_steps;
    }
}

static vpu_status append_round(launch_run *r, mach_queue *queues,
                               vpu_error *err)
{
    for (uint32_t i = 0; i < r->n_shaves; i++) {
        bool ended = r->next[i].ended;

        if (!mach_queue_append(&queues[i], &r->next[i]))
            return err_set(err, VPU_ERR_NOMEM, "no memory for %u steps",
                           r->next[i].n);
        queues[i].ended = r->next[i].ended = ended;
    }
    return VPU_OK;
}

static bool groups_left(const launch_run *r)
{
    for (uint32_t i = 0; i < r->n_shaves; i++)
        if (!r->next[i].ended)
            return true;
    return false;
}

static vpu_status refill_ahead(launch_run *r, mach_queue *queues,
                               vpu_error *err)
{
    vpu_status st;

    if (!r->running)
        start_round(r);
    finish_round(r);
    st = round_result(r, err);
    if (!st)
        st = append_round(r, queues, err);
    if (!st && groups_left(r)) {
        plan_round(r, queues);
        start_round(r);
    }
    return st;
}

vpu_status rounds_refill(void *user, mach_queue *queues, uint32_t n,
                         vpu_error *err)
{
    launch_run *r = user;
    vpu_status st;

    if (r->ahead)
        return refill_ahead(r, queues, err);
    for (uint32_t i = 0; i < n; i++) {
        r->shaves[i].queue = &queues[i];
        r->shaves[i].room += queues[i].n - queues[i].head;
    }
    if (r->l->turns == EXEC_APART) {
        start_round(r);
        finish_round(r);
    } else if (interleave_round(r->shaves, r->n_shaves, r->l->turns, &r->turn,
                                err)) {
        return VPU_ERR_NOMEM;
    }
    st = round_result(r, err);
    plan_round(r, queues);
    return st;
}

/* Rounds ahead are for several threads, and for steps that cost time. A profile
 * is told of steps while they are run and while the clock passes them. */
void rounds_start(launch_run *r, arena *a)
{
    start_threads(r);
    r->ahead = r->n_threads && r->l->timing != EXEC_NO_TIMING && !r->profile;
    /* Nothing waits for a round without time, nor can two overlap in turns. */
    r->round_steps = r->l->timing == EXEC_NO_TIMING || r->l->turns != EXEC_APART
                         ? QUEUE_STEPS
                         : FIRST_ROUND;
    r->next = arena_array(a, mach_queue, r->n_shaves);
    for (uint32_t i = 0; i < r->n_shaves; i++) {
        r->shaves[i].queue = &r->next[i];
        r->shaves[i].room = r->round_steps;
    }
}

/* A round that nobody waits for any more. */
static void give_up_round(launch_run *r)
{
    if (!r->running)
        return;
    stop_shaves(r);
    finish_round(r);
    r->gave_up = true; /* how far it came is a matter of luck */
}

void rounds_end(launch_run *r)
{
    give_up_round(r);
    stop_threads(r);
    for (uint32_t i = 0; i < r->n_shaves; i++)
        mach_queue_free(&r->next[i]);
}
