/* Threads, rounds, and the message for what stopped one. */
#include "sim/exec/rounds.h"

#include "sim/exec/interleave.h"
#include "sim/exec/stuck.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    /* Steps a SHAVE may be ahead of the clock: what bounds memory. Many more do
     * not stay in the host's caches until they are replayed. */
    QUEUE_STEPS = 1024,
    /* What a SHAVE runs in the first round; later ones grow. */
    FIRST_ROUND = 32
};

/* --- threads ------------------------------------------------------------- */

/* Runs SHAVEs of the current round until none is left. */
static void take_shaves(void *arg)
{
    rounds_launch *r = arg;
    uint32_t i;

    while ((i = r->next_shave++) < r->n_shaves) {
        exec_shave *s = &r->shaves[i];

        if (!s->queue->ended && s->scope.kind == FAULT_NONE)
            exec_shave_run(s);
    }
}

static void stop_shaves(rounds_launch *r)
{
    atomic_store(&r->stop, true);
    /* Loops look at max_cycles on their way back. */
    for (uint32_t i = 0; i < r->n_shaves; i++)
        atomic_store(&r->shaves[i].wg.max_cycles, 0);
}

static bool is_cancelled(const rounds_launch *r)
{
    return r->launch->how.cancel && atomic_load(r->launch->how.cancel);
}

static void time_is_over(void *arg)
{
    rounds_launch *r = arg;

    if (is_cancelled(r))
        r->cancelled = true;
    else
        r->timed_out = true;
    stop_shaves(r);
    for (uint32_t i = 0; i < r->n_shaves; i++)
        fault_interrupt(&r->shaves[i].scope);
}

/* Every so often while a launch runs that may be cancelled. */
static void look_out(void *arg)
{
    rounds_launch *r = arg;

    if (is_cancelled(r) || clock_seconds() >= r->deadline)
        time_is_over(r);
}

/* Seconds until look_out is due first; the watch repeats it. */
static const double LOOK_S = 0.05;

static void start_watch(rounds_launch *r)
{
    double seconds =
        r->launch->how.timeout_s > 0 ? r->launch->how.timeout_s : INFINITY;
    bool looks = r->launch->how.cancel && seconds > LOOK_S;

    if (isinf(seconds) && !looks)
        return;
    r->deadline = clock_seconds() + seconds;
    exec_threads_watch(r->threads, looks ? LOOK_S : seconds, look_out, r);
    if (is_cancelled(r))
        exec_threads_hurry(r->threads);
}

static void start_threads(rounds_launch *r)
{
    uint32_t n = r->launch->how.n_threads;

    if (!n) {
        long cpus = sysconf(_SC_NPROCESSORS_ONLN);

        n = cpus > 0 ? (uint32_t)cpus : 1;
    }
    if (n > r->n_shaves)
        n = r->n_shaves;
    if (n > ROUNDS_MAX_THREADS)
        n = ROUNDS_MAX_THREADS;
    /* Kernels with global atomics see each other: one fixed order for all. */
    if (r->launch->kernel->global_atomics || r->in_order ||
        r->launch->turns != EXEC_APART)
        n = 1;
    r->n_threads = r->threads ? n - 1 : 0; /* this thread works, too */
    if (r->threads)
        start_watch(r);
}

static void stop_threads(rounds_launch *r)
{
    if (r->threads)
        exec_threads_unwatch(r->threads);
}

/* --- rounds -------------------------------------------------------------- */

/* The time or the cycles are over. */
static vpu_status describe_limit(const rounds_launch *r, const char *where,
                                 vpu_error *err)
{
    const exec_launch *l = r->launch;
    str who = {0};
    vpu_status st;

    if (r->cancelled)
        return err_set(err, VPU_ERR_STOPPED, "%s: cancelled", where);
    stuck_report(r->shaves, r->n_shaves, &who);
    if (r->timed_out)
        st = err_set(err, VPU_ERR_LIMIT,
                     "%s: still running after %g s (--timeout)%s", where,
                     l->how.timeout_s, str_text(&who));
    else
        st =
            err_set(err, VPU_ERR_LIMIT,
                    "%s: over %llu cycles on one SHAVE (--max-cycles)%s", where,
                    (unsigned long long)l->how.max_cycles, str_text(&who));
    str_free(&who);
    return st;
}

static vpu_status describe_access(const rounds_launch *r, const exec_shave *s,
                                  const char *where, vpu_error *err)
{
    const char *what = s->scope.write ? "write" : "read";
    str at = {0};
    vpu_status st;

    memory_describe(r->mem, s->scope.address, &at);
    if (s->wg.line)
        st = err_at(err, VPU_ERR_FAULT, r->launch->kernel->source, s->wg.line,
                    s->wg.col, "%s: %s outside mapped memory at 0x%08x: %s",
                    where, what, s->scope.address, str_text(&at));
    else
        st = err_set(err, VPU_ERR_FAULT,
                     "%s: %s outside mapped memory at 0x%08x: %s", where, what,
                     s->scope.address, str_text(&at));
    str_free(&at);
    return st;
}

static void say_overrun(const exec_shave *s, const char *where, str *out)
{
    const cmx_guard *g = s->broken;

    str_printf(out,
               "%s: local memory '%s' has %u bytes, and byte %u behind its "
               "end was written to",
               where, g->array, g->array_bytes,
               s->broken_at - s->cmx - g->from + 1);
}

static vpu_status describe_local(const exec_shave *s, const char *where,
                                 vpu_error *err)
{
    str text = {0};
    vpu_status st;

    say_overrun(s, where, &text);
    st = err_set(err, VPU_ERR_FAULT,
                 "%s: vpu check names the line, --overruns note goes on",
                 str_text(&text));
    str_free(&text);
    return st;
}

static void place_of_group(const rounds_launch *r, uint64_t group, str *out)
{
    str_printf(out, "%s: kernel '%s', ", r->launch->name,
               r->launch->kernel->name);
    stuck_group(r->launch->groups, group, out);
}

void rounds_note_overrun(const rounds_launch *r)
{
    const exec_shave *first = NULL;
    str where = {0}, text = {0};

    for (uint32_t i = 0; i < r->n_shaves; i++)
        if (r->shaves[i].broken &&
            (!first || r->shaves[i].broken_group < first->broken_group))
            first = &r->shaves[i];
    if (!first)
        return;
    place_of_group(r, first->broken_group, &where);
    say_overrun(first, str_text(&where), &text);
    log_note(r->launch->log, "%s; vpu check names the line", str_text(&text));
    str_free(&where);
    str_free(&text);
}

static vpu_status describe_fault(rounds_launch *r, const exec_shave *s,
                                 vpu_error *err)
{
    const exec_launch *l = r->launch;
    str where = {0};
    vpu_status st;

    place_of_group(r, s->group, &where);
    switch (s->scope.kind) {
    case FAULT_ACCESS:
        st = describe_access(r, s, str_text(&where), err);
        break;
    case FAULT_LOCAL:
        st = describe_local(s, str_text(&where), err);
        break;
    case FAULT_DIVERGENCE:
        st = err_set(err, VPU_ERR_UNDEFINED,
                     "%s:%u: %s: not all work-items reach the same barrier",
                     l->kernel->source, s->scope.line, str_text(&where));
        break;
    case FAULT_UNREACHABLE:
        st = err_set(err, VPU_ERR_UNDEFINED,
                     "%s:%u: %s: control comes where the source says it never "
                     "does (__builtin_unreachable, or an endless loop that "
                     "does nothing)",
                     l->kernel->source, s->scope.line, str_text(&where));
        break;
    case FAULT_COPY:
        st = err_set(err, VPU_ERR_UNDEFINED,
                     "%s:%u: %s: copy with lines of zero bytes",
                     l->kernel->source, s->scope.line, str_text(&where));
        break;
    case FAULT_COPY_OUTSIDE:
        st = err_set(err, VPU_ERR_FAULT,
                     "%s:%u: %s: copy that leaves the device's 32-bit "
                     "addresses: its size, a stride or the place is wrong",
                     l->kernel->source, s->scope.line, str_text(&where));
        break;
    case FAULT_MISSES:
        st = err_set(err, VPU_ERR_UNTESTED,
                     "%s: more than %d lines of DDR without a wait or copy in "
                     "between: --timing transaction was not made for that, "
                     "--timing flow is",
                     str_text(&where), MACH_MAX_MISSES);
        break;
    case FAULT_MEMORY:
        st = err_set(err, VPU_ERR_NOMEM, "%s: the host is out of memory",
                     str_text(&where));
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
void rounds_deliver_prints(rounds_launch *r, bool all)
{
    uint64_t below = all ? UINT64_MAX : 0;

    if (!r->prints)
        return;
    if (!all && r->launch->how.order == EXEC_SEQUENTIAL &&
        !r->launch->only_group && !r->launch->list && !r->launch->window) {
        below = UINT64_MAX;
        for (uint32_t i = 0; i < r->n_shaves; i++)
            if (r->shaves[i].next < r->shaves[i].end &&
                r->shaves[i].next < below)
                below = r->shaves[i].next;
    }
    print_log_deliver(r->prints, below, r->launch->print,
                      r->launch->print_user);
}

static void report_progress(rounds_launch *r)
{
    uint64_t done = 0;

    for (uint32_t i = 0; i < r->n_shaves; i++)
        done += r->shaves[i].done;
    log_progress(r->launch->log, &(log_step){r->launch->name, "work-groups",
                                             done, r->shaves[0].n_groups});
}

static void start_round(rounds_launch *r)
{
    r->next_shave = 0;
    /* A thread that cannot be had is not missed. */
    for (uint32_t k = 0; k < r->n_threads; k++)
        exec_threads_run(r->threads, take_shaves, r);
    r->running = true;
}

/* Takes part in the round until it is over. */
static void finish_round(rounds_launch *r)
{
    take_shaves(r);
    if (r->threads)
        exec_threads_join(r->threads);
    r->running = false;
}

/* After a round: what it printed and which fault ended it. All SHAVEs ran their
 * whole round, so the first one that faulted is the same whatever the threads
 * did. */
static vpu_status round_result(rounds_launch *r, vpu_error *err)
{
    if (r->record)
        mach_record_settle(r->record);
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
static void plan_round(rounds_launch *r, const mach_queue *queues)
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

static vpu_status append_round(rounds_launch *r, mach_queue *queues,
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

static bool groups_left(const rounds_launch *r)
{
    for (uint32_t i = 0; i < r->n_shaves; i++)
        if (!r->next[i].ended)
            return true;
    return false;
}

static vpu_status refill_ahead(rounds_launch *r, mach_queue *queues,
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

/* Runs the round that the queues need, before anything else goes on. */
static vpu_status refill_now(rounds_launch *r, mach_queue *queues, uint32_t n,
                             vpu_error *err)
{
    vpu_status st;

    for (uint32_t i = 0; i < n; i++) {
        r->shaves[i].queue = &queues[i];
        r->shaves[i].room += queues[i].n - queues[i].head;
    }
    if (r->launch->turns == EXEC_APART) {
        start_round(r);
        finish_round(r);
    } else if (interleave_round(r->shaves, r->n_shaves, r->launch->turns,
                                &r->turn, err)) {
        return VPU_ERR_NOMEM;
    }
    st = round_result(r, err);
    plan_round(r, queues);
    return st;
}

vpu_status rounds_refill(void *user, mach_queue *queues, uint32_t n,
                         vpu_error *err)
{
    rounds_launch *r = user;
    double start = clock_seconds();
    vpu_status st =
        r->ahead ? refill_ahead(r, queues, err) : refill_now(r, queues, n, err);

    r->groups_s += clock_seconds() - start;
    return st;
}

/* Rounds ahead are for several threads, and for steps that cost time. A profile
 * is told of steps while they are run and while the clock passes them. */
void rounds_start(rounds_launch *r)
{
    start_threads(r);
    r->ahead =
        r->n_threads && r->launch->how.timing != EXEC_NO_TIMING && !r->profile;
    /* Nothing waits for a round without time, nor can two overlap in turns. */
    r->round_steps = r->launch->how.timing == EXEC_NO_TIMING ||
                             r->launch->turns != EXEC_APART
                         ? QUEUE_STEPS
                         : FIRST_ROUND;
    for (uint32_t i = 0; i < r->n_shaves; i++) {
        r->shaves[i].queue = &r->next[i];
        r->shaves[i].room = r->round_steps;
    }
}

/* A round that nobody waits for any more. */
static void give_up_round(rounds_launch *r)
{
    if (!r->running)
        return;
    stop_shaves(r);
    finish_round(r);
    r->gave_up = true; /* how far it came is a matter of luck */
}

void rounds_end(rounds_launch *r)
{
    give_up_round(r);
    stop_threads(r);
    for (uint32_t i = 0; i < r->n_shaves; i++)
        mach_queue_free(&r->next[i]);
}
