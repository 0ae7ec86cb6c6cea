/* Decoding packets and putting events at their places take about as long, and
 * neither waits for the other's memory. So a thread decodes into a ring of
 * batches, and the caller's thread takes them out.
 *
 * Waking a thread costs what some hundred events do, and the faster of the two
 * would sleep and be woken at each batch. So a thread that finds nothing to do
 * waits for several batches: the reader until half of the ring is free, the
 * caller until a quarter of it is full or the file has ended. */
#include "visualizer/load_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"

enum {
    N_BATCHES = 16,
    N_FREE = 8,  /* the reader waits for, */
    N_READY = 4, /* and the caller */
    N_EVENTS = 1024,
    N_ARGS = 4096,
    N_TRACKS = 64,
    TEXT_BYTES = 2 * TRC_READ_TEXT
};

typedef struct {
    size_t before; /* which event it comes */
    trc_read_track track;
} placed_track;

/* A line of the caches for each event: none is written by one thread while the
 * other reads its neighbour. */
typedef struct {
    size_t n_events, n_tracks;
    _Alignas(64) trc_read_event events[N_EVENTS];
    trc_arg args[N_ARGS];
    placed_track tracks[N_TRACKS];
    char text[TEXT_BYTES];
} batch;

typedef struct {
    const load_source *from;
    const trc_read_ops *ops;   /* that fill batches */
    batch *batches[N_BATCHES]; /* made when first filled: most files need one */
    trc_read_room room, last;  /* in the batch that is being filled; the last
                                  in which another event fits */
    pthread_mutex_t lock;
    pthread_cond_t moved; /* any of the following has changed */
    uint64_t n_filled, n_taken;
    bool ended, stopped, no_memory;
    vpu_status st;
    vpu_error *err;
} ring;

/* --- the thread that reads ----------------------------------------------- */

static batch *filling(const ring *r)
{
    return r->batches[r->n_filled % N_BATCHES];
}

static bool begin_batch(ring *r)
{
    batch **b = &r->batches[r->n_filled % N_BATCHES];

    if (!*b) {
        if (!(*b = aligned_alloc(_Alignof(batch), sizeof **b))) {
            r->no_memory = true;
            return false;
        }
        (*b)->n_events = (*b)->n_tracks = 0;
    }
    r->room = (trc_read_room){(*b)->events, (*b)->args, (*b)->text, 0};
    r->last = (trc_read_room){(*b)->events + N_EVENTS - 1,
                              (*b)->args + N_ARGS - TRC_MAX_ARGS,
                              (*b)->text + TEXT_BYTES - TRC_READ_TEXT, 0};
    return true;
}

static void end_batch(ring *r)
{
    batch *b = filling(r);

    b->n_events = (size_t)(r->room.event - b->events);
}

/* Hands the batch over and waits for the next; false: nobody wants it, or there
 * is no memory for it. */
static bool hand_over(ring *r)
{
    bool stopped;

    end_batch(r);
    pthread_mutex_lock(&r->lock);
    if (++r->n_filled - r->n_taken >= N_READY)
        pthread_cond_signal(&r->moved);
    if (r->n_filled - r->n_taken == N_BATCHES)
        while (!r->stopped && r->n_filled - r->n_taken > N_BATCHES - N_FREE)
            pthread_cond_wait(&r->moved, &r->lock);
    stopped = r->stopped;
    pthread_mutex_unlock(&r->lock);
    return begin_batch(r) && !stopped;
}

/* What was put has its place; false: as hand_over. */
static inline bool keep(ring *r, bool full)
{
    trc_read_room *room = &r->room;

    room->text += room->n_text;
    room->n_text = 0;
    return (!full && room->event <= r->last.event &&
            room->args <= r->last.args && room->text <= r->last.text) ||
           hand_over(r);
}

static bool put_track(void *user, const trc_read_track *t)
{
    ring *r = user;
    batch *b = filling(r);

    b->tracks[b->n_tracks++] =
        (placed_track){(size_t)(r->room.event - b->events), *t};
    return keep(r, b->n_tracks == N_TRACKS);
}

/* The reader has put the event into the batch. */
static bool put_event(void *user, const trc_read_event *e)
{
    ring *r = user;

    r->room.event++;
    r->room.args += e->n_args;
    return keep(r, false);
}

/* The reader's texts go when this returns: everything must be taken. */
static void put_end(void *user)
{
    ring *r = user;

    if (!r->no_memory)
        end_batch(r);
    pthread_mutex_lock(&r->lock);
    r->n_filled += !r->no_memory;
    r->ended = true;
    pthread_cond_signal(&r->moved);
    while (!r->stopped && r->n_taken < r->n_filled)
        pthread_cond_wait(&r->moved, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

static vpu_status read_source(const load_source *from, const trc_read_ops *ops,
                              vpu_error *err)
{
    return from->data
               ? trc_read_bytes(from->name, from->data, from->n_bytes, ops, err)
               : trc_read_file(from->name, ops, err);
}

static vpu_status read_guarded(void *user, vpu_error *err)
{
    ring *r = user;

    return read_source(r->from, r->ops, err);
}

static void *read_ahead(void *user)
{
    ring *r = user;
    const trc_read_ops ops = {put_track, put_event, r, &r->room, put_end};

    r->ops = &ops;
    r->st = oom_guard(read_guarded, r, r->err);
    if (r->no_memory)
        r->st =
            err_set(r->err, VPU_ERR_NOMEM, "%s: out of memory", r->from->name);
    pthread_mutex_lock(&r->lock);
    r->ended = true; /* also of a file that could not be opened */
    pthread_cond_signal(&r->moved);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* --- the caller's thread ------------------------------------------------- */

/* Waits for the next batch; NULL: there is none. */
static batch *take(ring *r)
{
    batch *b = NULL;

    pthread_mutex_lock(&r->lock);
    if (r->n_taken == r->n_filled)
        while (r->n_filled - r->n_taken < N_READY && !r->ended)
            pthread_cond_wait(&r->moved, &r->lock);
    if (r->n_taken < r->n_filled)
        b = r->batches[r->n_taken % N_BATCHES];
    pthread_mutex_unlock(&r->lock);
    return b;
}

static void give_back(ring *r, batch *b, bool stop)
{
    b->n_events = b->n_tracks = 0;
    pthread_mutex_lock(&r->lock);
    r->n_taken++;
    r->stopped = stop;
    if (stop || r->n_filled - r->n_taken <= N_BATCHES - N_FREE)
        pthread_cond_signal(&r->moved);
    pthread_mutex_unlock(&r->lock);
}

static bool take_batch(const batch *b, const trc_read_ops *ops)
{
    size_t t = 0;

    for (size_t i = 0; i <= b->n_events; i++) {
        for (; t < b->n_tracks && b->tracks[t].before == i; t++)
            if (!ops->track(ops->user, &b->tracks[t].track))
                return false;
        if (i < b->n_events && !ops->event(ops->user, &b->events[i]))
            return false;
    }
    return true;
}

static void take_all(ring *r, const trc_read_ops *ops)
{
    bool wanted = true;
    batch *b;

    while (wanted && (b = take(r))) {
        wanted = take_batch(b, ops);
        give_back(r, b, !wanted);
    }
}

vpu_status load_ahead(const load_source *from, const trc_read_ops *ops,
                      vpu_error *err)
{
    ring r = {.from = from, .err = err};
    bool started = false;
    pthread_t thread;

    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.moved, NULL);
    if (begin_batch(&r))
        started = !pthread_create(&thread, NULL, read_ahead, &r);
    if (started) {
        take_all(&r, ops);
        pthread_join(thread, NULL);
    } else { /* one after the other, then */
        r.st = read_source(from, ops, err);
    }
    pthread_cond_destroy(&r.moved);
    pthread_mutex_destroy(&r.lock);
    for (int i = 0; i < N_BATCHES; i++)
        free(r.batches[i]);
    return r.st;
}
