/* The next round of halving, from the last one's results. */
#include "runtime/sweep/rounds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/oom.h"
#include "runtime/sweep/figures.h"
#include "runtime/sweep/store_priv.h"

enum { TURN_SECONDS = 10 };

/* A point of the last round. */
typedef struct {
    uint64_t candidate; /* which one it is, the same in every round */
    double value;       /* of the objective */
} entry;

typedef struct {
    const sweep_store *store;
    arena *a;
    uint64_t first;           /* points of round 0 */
    uint64_t round, begin, n; /* the last one planned: its first point */
    entry *entries;
    bool complete, grown;
    sweep_cursor points, candidates;
    file_out out;
    bool open;
    int turn; /* held by one process at a time; -1: none */
} rounds;

static uint64_t half(uint64_t n)
{
    return (n + 1) / 2;
}

static uint64_t first_round(const sweep_manifest *m)
{
    uint64_t n = 0;
    vpu_error err;

    return sweep_points_count(m, &n, &err) ? 0 : n;
}

uint64_t sweep_rounds_points(const sweep_manifest *m, uint64_t n)
{
    uint64_t sum = 0;

    if (m->method != SWEEP_HALVING)
        return n;
    n = first_round(m);
    for (size_t r = 0; r < m->dims[m->by].n; r++, n = half(n))
        sum += n;
    return sum;
}

/* --- the last round ------------------------------------------------------- */

static bool same_candidate(const sweep_manifest *m, const sweep_point *x,
                           const sweep_point *y)
{
    for (size_t d = 0; d < m->n_dims; d++)
        if (d != m->by && strcmp(x->texts[d], y->texts[d]))
            return false;
    return true;
}

static bool value_of(const sweep_store *s, const char *name, double *out)
{
    json_t *figures = sweep_store_result(s, name);
    const json_t *x = json_object_get(figures, s->manifest.objective);
    bool good = json_is_number(x);

    *out = json_number_value(x);
    json_decref(figures);
    return good;
}

/* Points of a round are in the order of candidates, each later in the list of
 * round 0 than the one before: one pass over both finds which is which. */
static vpu_status read_round(rounds *r, vpu_error *err)
{
    const sweep_manifest *m = &r->store->manifest;
    arena *scratch = r->a;
    uint64_t candidate = 0;
    vpu_status st = VPU_OK;

    r->complete = true;
    for (uint64_t i = 0; i < r->begin + r->n && !st && r->complete; i++) {
        arena_mark mark = arena_save(scratch);
        sweep_point p, q;
        bool more;

        st = sweep_cursor_next(&r->points, scratch, &p, &more, err);
        r->complete = !st && more;
        if (st || !more || i < r->begin) {
            arena_restore(scratch, mark);
            continue;
        }
        do {
            st = sweep_cursor_next(&r->candidates, scratch, &q, &more, err);
        } while (!st && more && candidate++ < r->first &&
                 !same_candidate(m, &p, &q));
        if (!st && (!more || candidate > r->first))
            st = err_at(err, VPU_ERR_PARSE, r->points.path, (uint32_t)i + 1, 0,
                        "this point is none of " SWEEP_CANDIDATES);
        r->entries[i - r->begin].candidate = candidate - 1;
        r->complete &=
            !st && value_of(r->store, p.name, &r->entries[i - r->begin].value);
        arena_restore(scratch, mark);
    }
    return st;
}

/* --- the next ------------------------------------------------------------- */

static int by_value(const void *x, const void *y)
{
    const entry *a = x, *b = y;

    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->candidate < b->candidate ? -1 : a->candidate > b->candidate;
}

static int by_candidate(const void *x, const void *y)
{
    const entry *a = x, *b = y;

    return a->candidate < b->candidate ? -1 : a->candidate > b->candidate;
}

/* The points that were counted, no later ones: what is written follows from
 * them, also when another process has added a round since. */
static vpu_status copy_point(void *user, const sweep_point *p, vpu_error *err)
{
    const rounds *r = user;

    (void)err;
    if (p->number < r->begin + r->n)
        fwrite(r->points.line, 1, r->points.n, r->out.stream);
    return VPU_OK;
}

static vpu_status copy_points(rounds *r, vpu_error *err)
{
    return sweep_cursor_each(&r->points, r->store, SWEEP_POINTS, r->a,
                             copy_point, r, err);
}

/* Those of the next round's candidates that go on, under numbers of their own.
 */
static vpu_status add_points(rounds *r, uint64_t kept, vpu_error *err)
{
    const uint64_t from = (r->round + 1) * r->first;
    uint64_t k = 0;
    bool more = true;
    vpu_status st = sweep_cursor_open(&r->candidates, r->store,
                                      SWEEP_CANDIDATES, r->a, err);

    while (!st && more && k < kept) {
        arena_mark mark = arena_save(r->a);
        str line = {.arena = r->a};
        sweep_point p;

        st = sweep_cursor_next(&r->candidates, r->a, &p, &more, err);
        if (!st && more && p.number == from + r->entries[k].candidate) {
            p.number = r->begin + r->n + k++;
            sweep_point_put(&p, &r->store->manifest, &line);
            fwrite(line.data, 1, line.n, r->out.stream);
        }
        arena_restore(r->a, mark);
    }
    return st || k == kept
               ? st
               : err_set(err, VPU_ERR_PARSE, "%s: the round %llu is missing",
                         r->candidates.path,
                         (unsigned long long)(r->round + 1));
}

static vpu_status write_round(rounds *r, vpu_error *err)
{
    uint64_t kept = half(r->n);
    vpu_status st;

    sweep_cursor_close(&r->points);
    sweep_cursor_close(&r->candidates);
    qsort(r->entries, r->n, sizeof *r->entries, by_value);
    qsort(r->entries, kept, sizeof *r->entries, by_candidate);
    st = file_out_open(&r->out, file_join(r->a, r->store->dir, SWEEP_POINTS),
                       err);
    r->open = !st;
    if (!st)
        st = copy_points(r, err);
    if (!st)
        st = add_points(r, kept, err);
    if (st)
        return st;
    r->open = false;
    st = file_out_commit(&r->out, err);
    r->grown = !st;
    return st;
}

static vpu_status count_point(void *user, const sweep_point *p, vpu_error *err)
{
    (void)p;
    (void)err;
    ++*(uint64_t *)user;
    return VPU_OK;
}

/* Which round the last planned point belongs to. */
static vpu_status find_round(rounds *r, vpu_error *err)
{
    const sweep_manifest *m = &r->store->manifest;
    uint64_t planned = 0;
    vpu_status st = sweep_cursor_each(&r->points, r->store, SWEEP_POINTS, r->a,
                                      count_point, &planned, err);

    sweep_cursor_close(&r->points);
    r->first = r->n = first_round(m);
    while (r->begin + r->n < planned) {
        r->begin += r->n;
        r->n = half(r->n);
        r->round++;
    }
    return st;
}

/* Held until `end`. Where the file system has no locks, or a process keeps its
 * turn for seconds, there are none: a process that is late may then take away a
 * round that another one has added, and adds it again itself. */
static void take_turn(rounds *r)
{
    const struct timespec pause = {.tv_nsec = 1000 * 1000};
    double last = clock_seconds() + TURN_SECONDS;

    r->turn = open(file_join(r->a, r->store->dir, SWEEP_CANDIDATES),
                   O_RDWR | O_CLOEXEC);
    while (r->turn >= 0 && flock(r->turn, LOCK_EX | LOCK_NB) &&
           (errno == EWOULDBLOCK || errno == EINTR) && clock_seconds() < last)
        nanosleep(&pause, NULL);
}

static vpu_status extend(void *user, vpu_error *err)
{
    rounds *r = user;
    const sweep_manifest *m = &r->store->manifest;
    vpu_status st;

    take_turn(r);
    st = find_round(r, err);

    if (st || r->round + 1 >= m->dims[m->by].n)
        return st;
    r->entries = arena_array(r->a, entry, r->n + 1);
    st = sweep_cursor_open(&r->points, r->store, SWEEP_POINTS, r->a, err);
    if (!st)
        st = sweep_cursor_open(&r->candidates, r->store, SWEEP_CANDIDATES, r->a,
                               err);
    if (!st)
        st = read_round(r, err);
    return st || !r->complete ? st : write_round(r, err);
}

static void end(void *user)
{
    rounds *r = user;

    sweep_cursor_close(&r->points);
    sweep_cursor_close(&r->candidates);
    if (r->open)
        file_out_abandon(&r->out);
    if (r->turn >= 0)
        close(r->turn);
    arena_destroy(r->a);
}

vpu_status sweep_rounds_extend(const sweep_store *s, bool *more, vpu_error *err)
{
    rounds r = {.store = s, .a = arena_create(0), .turn = -1};
    vpu_status st = VPU_OK;

    if (s->manifest.method == SWEEP_HALVING)
        st = oom_finally(extend, end, &r, err);
    else
        arena_destroy(r.a);
    *more = r.grown;
    return st;
}
