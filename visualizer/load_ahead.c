/* Decoding packets and putting events at their places take about as long, and
 * neither waits for the other's memory. So a thread decodes into a ring of
 * batches, and the caller's thread takes them out. */
#include "visualizer/load_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"

enum {
    N_BATCHES = 4,
    N_ITEMS = 1024,
    N_ARGS = 4096,
    TEXT_BYTES = 1 << 20,
    MAX_TEXTS = 1 << 19 /* of one packet, see reader.h */
};

typedef struct {
    bool is_track;
    union {
        trc_read_track track;
        trc_read_event event;
    } as;
} item;

typedef struct {
    size_t n_items, n_args, n_text;
    item items[N_ITEMS];
    trc_arg args[N_ARGS];
    uint32_t keys[N_ARGS];
    char text[TEXT_BYTES];
} batch;

typedef struct {
    const load_source *from;
    const trc_read_ops *ops; /* that fill batches */
    batch *batches[N_BATCHES];
    pthread_mutex_t lock;
    pthread_cond_t moved; /* any of the following has changed */
    uint64_t n_filled, n_taken;
    bool ended, stopped;
    vpu_status st;
    vpu_error *err;
} ring;

/* --- the thread that reads ----------------------------------------------- */

/* Hands the batch over and waits for the next; false: nobody wants it. */
static bool hand_over(ring *r)
{
    bool stopped;

    pthread_mutex_lock(&r->lock);
    r->n_filled++;
    pthread_cond_signal(&r->moved);
    while (!r->stopped && r->n_filled - r->n_taken == N_BATCHES)
        pthread_cond_wait(&r->moved, &r->lock);
    stopped = r->stopped;
    pthread_mutex_unlock(&r->lock);
    return !stopped;
}

/* An item with room for its arguments and texts; NULL: nobody wants it. */
static item *next_item(ring *r, batch **to)
{
    batch *b = r->batches[r->n_filled % N_BATCHES];

    if (b->n_items == N_ITEMS || b->n_args + TRC_MAX_ARGS > N_ARGS ||
        b->n_text + MAX_TEXTS > TEXT_BYTES) {
        if (!hand_over(r))
            return NULL;
        b = r->batches[r->n_filled % N_BATCHES];
    }
    *to = b;
    return &b->items[b->n_items++];
}

static const char *keep_text(batch *b, const char *text)
{
    size_t n = strlen(text) + 1;
    char *to = b->text + b->n_text;

    memcpy(to, text, n);
    b->n_text += n;
    return to;
}

static bool put_track(void *user, const trc_read_track *t)
{
    batch *b;
    item *i = next_item(user, &b);

    if (!i)
        return false;
    i->is_track = true;
    i->as.track = *t;
    i->as.track.name = keep_text(b, t->name);
    return true;
}

static bool put_event(void *user, const trc_read_event *e)
{
    batch *b;
    item *to = next_item(user, &b);
    trc_arg *args;

    if (!to)
        return false;
    args = b->args + b->n_args;
    to->is_track = false;
    to->as.event = *e;
    to->as.event.args = args;
    to->as.event.arg_keys = b->keys + b->n_args;
    if (!e->name_key && e->name[0])
        to->as.event.name = keep_text(b, e->name);
    for (size_t i = 0; i < e->n_args; i++) {
        args[i] = e->args[i];
        b->keys[b->n_args + i] = e->arg_keys[i];
        if (!e->arg_keys[i] && e->args[i].name[0])
            args[i].name = keep_text(b, e->args[i].name);
        if (e->args[i].kind == TRC_ARG_TEXT)
            args[i].text = keep_text(b, e->args[i].text);
    }
    b->n_args += e->n_args;
    return true;
}

/* The reader's texts go when this returns: everything must be taken. */
static void put_end(void *user)
{
    ring *r = user;

    pthread_mutex_lock(&r->lock);
    r->n_filled++;
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
    const trc_read_ops ops = {put_track, put_event, r, put_end};

    r->ops = &ops;
    r->st = oom_guard(read_guarded, r, r->err);
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
    while (r->n_taken == r->n_filled && !r->ended)
        pthread_cond_wait(&r->moved, &r->lock);
    if (r->n_taken < r->n_filled)
        b = r->batches[r->n_taken % N_BATCHES];
    pthread_mutex_unlock(&r->lock);
    return b;
}

static void give_back(ring *r, batch *b, bool stop)
{
    b->n_items = b->n_args = b->n_text = 0;
    pthread_mutex_lock(&r->lock);
    r->n_taken++;
    r->stopped = stop;
    pthread_cond_signal(&r->moved);
    pthread_mutex_unlock(&r->lock);
}

static void take_all(ring *r, const trc_read_ops *ops)
{
    bool wanted = true;
    batch *b;

    while (wanted && (b = take(r))) {
        for (size_t i = 0; wanted && i < b->n_items; i++) {
            const item *at = &b->items[i];

            wanted = at->is_track ? ops->track(ops->user, &at->as.track)
                                  : ops->event(ops->user, &at->as.event);
        }
        give_back(r, b, !wanted);
    }
}

vpu_status load_ahead(const load_source *from, const trc_read_ops *ops,
                      vpu_error *err)
{
    ring r = {.from = from, .err = err};
    bool memory = true, started = false;
    pthread_t thread;

    for (int i = 0; i < N_BATCHES; i++) {
        r.batches[i] = malloc(sizeof *r.batches[i]);
        memory &= r.batches[i] != NULL;
        if (r.batches[i])
            r.batches[i]->n_items = r.batches[i]->n_args =
                r.batches[i]->n_text = 0;
    }
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.moved, NULL);
    if (memory)
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
