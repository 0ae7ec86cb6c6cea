/* Points given to workers, their answers, and what happens to those that give
 * none. */
#include "runtime/sweep/workers.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/oom.h"
#include "runtime/sweep/pending.h"
#include "runtime/sweep/store_priv.h"
#include "runtime/sweep/worker.h"

enum { TICK_MS = 100, GRACE_SECONDS = 2 };

typedef struct {
    const sweep_store *store;
    const sweep_workers_config *config;
    arena *a;
    file_in points;
    bool open;
    sweep_pending *list;
    size_t n, next, running;
    sweep_worker *workers;
    size_t n_workers;
    struct pollfd *polled;
    size_t *who; /* worker of each polled one */
    sweep_tally *tally;
} pool;

static bool stopping(const pool *p)
{
    return p->config->stop && atomic_load(p->config->stop);
}

/* --- failures ------------------------------------------------------------- */

/* The point of a worker that has ended without an answer. */
static vpu_status record_end(pool *p, sweep_worker *w, int status,
                             const char *said, const char *line, size_t n,
                             vpu_error *err)
{
    arena_mark m = arena_save(p->a);
    sweep_point x;
    const char *why;
    vpu_status st = sweep_point_parse(line, n, &p->store->manifest,
                                      SWEEP_POINTS, w->number, p->a, &x, err);

    if (w->over)
        why = w->over;
    else if (WIFSIGNALED(status))
        why = arena_printf(p->a, "its process was ended by signal %d (%s)%s%s",
                           WTERMSIG(status), strsignal(WTERMSIG(status)),
                           *said ? ": " : "", said);
    else
        why = arena_printf(p->a, "its process ended with status %d%s%s",
                           WEXITSTATUS(status), *said ? ": " : "", said);
    if (!st)
        st = sweep_store_put_failure(p->store, &x, why, err);
    p->tally->failed++;
    arena_restore(p->a, m);
    return st;
}

/* w has ended, or is to: its point, if it has one, has failed. */
static vpu_status bury(pool *p, sweep_worker *w, bool force, vpu_error *err)
{
    arena_mark m = arena_save(p->a);
    sweep_worker was = *w;
    const char *said = sweep_worker_said(w, p->a);
    const char *line = arena_strndup(p->a, w->line ? w->line : "", w->n);
    int status = sweep_worker_end(w, force);
    vpu_status st = VPU_OK;

    if (was.busy) {
        p->running--;
        if (!stopping(p))
            st = record_end(p, &was, status, said, line, was.n, err);
    }
    arena_restore(p->a, m);
    return st;
}

/* --- points out, answers in ----------------------------------------------- */

static vpu_status give(pool *p, sweep_worker *w, vpu_error *err)
{
    const sweep_pending *x = &p->list[p->next];
    arena_mark m = arena_save(p->a);
    char *line = arena_array(p->a, char, x->n + 1);
    vpu_status st = file_in_read(&p->points, x->at, line, x->n, err);

    if (!st && !w->pid)
        st = sweep_worker_start(w, p->store, p->config, p->workers,
                                p->n_workers, err);
    if (!st) {
        w->number = x->number;
        p->next++;
        p->running++;
        if (!sweep_worker_send(w, line, x->n))
            st = bury(p, w, false, err);
    }
    arena_restore(p->a, m);
    return st;
}

static vpu_status give_all(pool *p, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < p->n_workers && !st; i++)
        if (!p->workers[i].busy && p->next < p->n)
            st = give(p, &p->workers[i], err);
    return st;
}

static vpu_status take(pool *p, sweep_worker *w, vpu_error *err)
{
    sweep_answer x;

    if (!sweep_worker_receive(w, &x))
        return bury(p, w, false, err);
    if (x.kind == SWEEP_STOPPED || w->over)
        return bury(p, w, false, err);
    w->busy = false;
    p->running--;
    p->tally->computed += x.kind == SWEEP_DONE;
    p->tally->failed += x.kind == SWEEP_FAILED;
    if (x.retires || x.kind == SWEEP_BROKEN)
        sweep_worker_end(w, false);
    return x.kind == SWEEP_BROKEN ? err_set(err, x.err.code, "%s", x.err.msg)
                                  : VPU_OK;
}

/* The limit that a worker is beyond; NULL: none. */
static const char *exceeded(const pool *p, const sweep_worker *w, double now)
{
    const sweep_workers_config *c = p->config;

    if (c->timeout_s > 0 && now - w->since > c->timeout_s)
        return arena_printf(p->a, "took more than %g s (--timeout)",
                            c->timeout_s);
    if (c->memory && sweep_worker_bytes(w) > c->memory)
        return arena_printf(p->a,
                            "needed more than %" PRIu64 " bytes of memory "
                            "(--memory)",
                            c->memory);
    return NULL;
}

/* Asked to end, and killed when it does not listen; memory does not wait. */
static void end_excessive(pool *p)
{
    double now = clock_seconds();

    for (size_t i = 0; i < p->n_workers; i++) {
        sweep_worker *w = &p->workers[i];

        if (!w->pid || !w->busy)
            continue;
        if (w->asked) {
            if (now - w->since > GRACE_SECONDS)
                kill(w->pid, SIGKILL);
            continue;
        }
        w->over = stopping(p) ? NULL : exceeded(p, w, now);
        if (w->over || stopping(p)) {
            w->asked = true;
            w->since = now;
            kill(w->pid, SIGTERM);
        }
    }
}

static vpu_status listen_once(pool *p, vpu_error *err)
{
    nfds_t n = 0;
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < p->n_workers; i++)
        if (p->workers[i].pid && p->workers[i].busy) {
            p->polled[n] = (struct pollfd){p->workers[i].fd, POLLIN, 0};
            p->who[n++] = i;
        }
    if (poll(p->polled, n, TICK_MS) < 0 && errno != EINTR)
        return err_set(err, VPU_ERR_IO, "workers: %s", strerror(errno));
    for (nfds_t k = 0; k < n && !st; k++)
        if (p->polled[k].revents)
            st = take(p, &p->workers[p->who[k]], err);
    end_excessive(p);
    return st;
}

static void tell(const pool *p)
{
    const sweep_tally *t = p->tally;

    log_progress(p->config->log,
                 &(const log_step){"sweep", "points",
                                   t->there + t->computed + t->failed,
                                   t->points});
}

static vpu_status compute_all(pool *p, vpu_error *err)
{
    vpu_status st = VPU_OK;

    tell(p);
    while (!st && (p->running || (p->next < p->n && !stopping(p)))) {
        if (!stopping(p))
            st = give_all(p, err);
        if (!st)
            st = listen_once(p, err);
        tell(p);
    }
    return st;
}

/* A worker that is asked to end may have put its result there, and no answer
 * told of it: what counts is what is there. */
static vpu_status count_results(pool *p, vpu_error *err)
{
    sweep_tally now = {0};
    sweep_pending *list;
    size_t n;
    vpu_status st =
        sweep_pending_find(p->store, p->config->part, p->config->parts, p->a,
                           &list, &n, &now, err);

    if (!st)
        p->tally->computed = now.there - p->tally->there;
    return st;
}

static vpu_status run(void *user, vpu_error *err)
{
    pool *p = user;
    vpu_status st =
        sweep_pending_find(p->store, p->config->part, p->config->parts, p->a,
                           &p->list, &p->n, p->tally, err);

    if (st || !p->n)
        return st;
    if (p->n < p->n_workers)
        p->n_workers = p->n;
    p->workers = arena_array(p->a, sweep_worker, p->n_workers);
    p->polled = arena_array(p->a, struct pollfd, p->n_workers);
    p->who = arena_array(p->a, size_t, p->n_workers);
    st = file_in_open(&p->points, file_join(p->a, p->store->dir, SWEEP_POINTS),
                      UINT64_MAX, err);
    p->open = !st;
    if (!st)
        st = compute_all(p, err);
    return !st && stopping(p) ? count_results(p, err) : st;
}

static void end(void *user)
{
    pool *p = user;

    for (size_t i = 0; p->workers && i < p->n_workers; i++)
        if (p->workers[i].pid)
            sweep_worker_end(&p->workers[i], p->workers[i].busy);
    if (p->open)
        file_in_close(&p->points);
    p->tally->stopped = p->tally->points >
                        p->tally->there + p->tally->computed + p->tally->failed;
    arena_destroy(p->a);
}

vpu_status sweep_workers_run(const sweep_store *s,
                             const sweep_workers_config *config,
                             sweep_tally *out, vpu_error *err)
{
    pool p = {.store = s,
              .config = config,
              .a = arena_create(0),
              .n_workers = config->n_workers ? config->n_workers : 1,
              .tally = out};

    *out = (sweep_tally){0};
    if (p.n_workers > SWEEP_MAX_WORKERS)
        p.n_workers = SWEEP_MAX_WORKERS;
    return oom_finally(run, end, &p, err);
}

/* --- one by one ----------------------------------------------------------- */

typedef struct {
    pool p;
    const sweep_point *point;
} single_run;

static vpu_status compute_single(void *user, vpu_error *err)
{
    single_run *r = user;
    pool *p = &r->p;
    sweep_worker *w = p->workers;
    str line = {.arena = p->a};
    vpu_status st = VPU_OK;

    sweep_point_put(r->point, &p->store->manifest, &line);
    p->polled = arena_array(p->a, struct pollfd, 1);
    p->who = arena_array(p->a, size_t, 1);
    if (!w->pid)
        st = sweep_worker_start(w, p->store, p->config, w, 1, err);
    if (st)
        return st;
    w->number = r->point->number;
    p->running = 1;
    if (!sweep_worker_send(w, line.data, line.n))
        st = bury(p, w, false, err);
    while (!st && p->running)
        st = listen_once(p, err);
    if (!st && stopping(p))
        st = err_set(err, VPU_ERR_STOPPED, "stopped on request");
    return st;
}

static void end_single(void *user)
{
    arena_destroy(((single_run *)user)->p.a);
}

static bool has_result(const sweep_store *s, const char *name)
{
    json_t *figures = sweep_store_result(s, name);

    json_decref(figures);
    return figures != NULL;
}

vpu_status sweep_single_compute(sweep_single *s, const sweep_store *store,
                                const sweep_workers_config *config,
                                const sweep_point *point, vpu_error *err)
{
    sweep_tally tally = {0};
    single_run r = {.p = {.store = store,
                          .config = config,
                          .n_workers = 1,
                          .tally = &tally},
                    .point = point};

    if (has_result(store, point->name))
        return VPU_OK;
    if (!s->worker) {
        s->worker = oom_malloc(sizeof *s->worker);
        *s->worker = (sweep_worker){0};
    }
    r.p.workers = s->worker;
    r.p.a = arena_create(0);
    return oom_finally(compute_single, end_single, &r, err);
}

void sweep_single_end(sweep_single *s)
{
    if (s->worker && s->worker->pid)
        sweep_worker_end(s->worker, s->worker->busy);
    free(s->worker);
    *s = (sweep_single){0};
}
