/* The trace reader's calls as additions to a timeline. */
#include "visualizer/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/trace/reader.h"
#include "visualizer/columns.h"
#include "visualizer/load_ahead.h"

/* What the reader's key of a text is here. */
typedef struct {
    bool known;
    tl_name name;
    uint32_t number;
} key_name;

typedef struct {
    tl_timeline *tl;
    key_name *keys; /* by key */
    uint64_t cap_keys;
    load_watch *watch;  /* NULL: nobody looks */
    uint64_t last_uuid; /* of `last_row`; events of a row come in runs */
    uint32_t last_row;  /* UINT32_MAX: none yet */
    uint64_t last_ns, last_ticks; /* at last_mhz; 0: none yet */
    uint32_t last_mhz;
    uint64_t n_events;
    bool stopped, full;
} loader;

static uint64_t ticks_of(loader *k, uint64_t ns)
{
    uint32_t mhz = k->tl->clk_mhz;

    /* Beyond 584 years the conversion overflows: not a time. */
    if (ns > UINT64_MAX / 1000)
        ns = UINT64_MAX / 1000;
    if (!mhz)
        return ns;
    /* Where a slice ends, often the next begins. */
    if (k->last_ns != ns || k->last_mhz != mhz) {
        k->last_ticks = trc_ns_to_cycles(mhz, ns);
        k->last_ns = ns;
        k->last_mhz = mhz;
    }
    return k->last_ticks;
}

static bool on_track(void *user, const trc_read_track *t)
{
    tl_timeline *tl = ((loader *)user)->tl;

    tl_row_describe(tl, tl_row_at(tl, t->uuid), t->parent_uuid, t->name,
                    t->counter);
    return !tl->failed;
}

/* Room for what is known of a key; NULL for none, or without memory. */
static key_name *known_as(loader *k, uint32_t key)
{
    uint64_t had = k->cap_keys;

    while (key >= k->cap_keys)
        if (!tl_grow(&k->keys, &k->cap_keys, sizeof *k->keys))
            return NULL;
    if (k->cap_keys > had)
        memset(k->keys + had, 0, (k->cap_keys - had) * sizeof *k->keys);
    return key ? &k->keys[key] : NULL;
}

static tl_name learn_name(loader *k, const char *text, uint32_t key, bool split,
                          uint32_t *number)
{
    key_name *known = known_as(k, key), now = {.known = true};

    now.number = TL_NO_NUMBER;
    now.name = split ? tl_split_name(k->tl, text, &now.number)
                     : tl_intern(k->tl, text, strlen(text));
    if (known)
        *known = now;
    *number = now.number;
    return now.name;
}

/* Event names are taken apart, those of arguments not: no key is both. */
static inline tl_name name_of(loader *k, const char *text, uint32_t key,
                              bool split, uint32_t *number)
{
    if (key >= k->cap_keys || !k->keys[key].known)
        return learn_name(k, text, key, split, number);
    *number = k->keys[key].number;
    return k->keys[key].name;
}

_Static_assert((int)TL_ARG_UINT == (int)TRC_ARG_UINT &&
                   (int)TL_ARG_REAL == (int)TRC_ARG_REAL &&
                   (int)TL_ARG_TEXT == (int)TRC_ARG_TEXT,
               "a kind is the same number in both");

static inline void read_args(loader *k, const trc_read_event *e, tl_args *args)
{
    uint32_t none;

    args->n = e->n_args;
    for (size_t i = 0; i < e->n_args; i++) {
        const trc_arg *a = &e->args[i];

        args->keys[i] =
            tl_key_of(name_of(k, a->name, a->key, false, &none), a->kind);
        args->values[i] = a->kind == TRC_ARG_TEXT
                              ? tl_intern(k->tl, a->text, strlen(a->text))
                              : a->number; /* or a double's bits */
    }
}

/* Our own notes at the start say what the clock is. */
static void see_note(tl_timeline *tl, const trc_read_event *e)
{
    unsigned long long mhz;

    for (size_t i = 0; i < e->n_args; i++)
        if (e->args[i].kind == TRC_ARG_TEXT &&
            !strcmp(e->args[i].name, "clk_mhz") &&
            str_to_u64(e->args[i].text, &mhz) && mhz >= 1 && mhz <= 1000 &&
            !tl->end)
            tl->clk_mhz = (uint32_t)mhz;
}

static void begin(loader *k, uint32_t row, uint64_t t, const trc_read_event *e)
{
    uint32_t number;
    tl_name name = name_of(k, e->name, e->name_key, true, &number);

    tl_add_split(k->tl, row, t, name, number);
}

/* Tells who watches, now and then; false: it is enough. */
static bool go_on(loader *k)
{
    enum { EVERY = 4096 };

    if (!k->watch || ++k->n_events % EVERY)
        return true;
    __atomic_store_n(&k->watch->events, k->n_events, __ATOMIC_RELAXED);
    k->stopped = __atomic_load_n(&k->watch->stop, __ATOMIC_RELAXED);
    k->full = k->watch->most_bytes && tl_bytes(k->tl) > k->watch->most_bytes;
    return !k->stopped && !k->full;
}

static uint32_t row_of(loader *k, uint64_t uuid)
{
    if (k->last_uuid != uuid || k->last_row == UINT32_MAX) {
        k->last_row = tl_row_at(k->tl, uuid);
        k->last_uuid = uuid;
    }
    return k->last_row;
}

static bool on_event(void *user, const trc_read_event *e)
{
    loader *k = user;
    tl_timeline *tl = k->tl;
    uint32_t row = row_of(k, e->uuid);
    uint64_t t = ticks_of(k, e->ns);
    tl_args args;

    if (!go_on(k))
        return false;
    if (e->kind == TRC_READ_BEGIN)
        begin(k, row, t, e);
    read_args(k, e, &args);
    if (args.n && (e->kind == TRC_READ_BEGIN || e->kind == TRC_READ_END))
        tl_add_args(tl, row, &args);
    switch (e->kind) {
    case TRC_READ_BEGIN:
        break;
    case TRC_READ_END:
        tl_add_end(tl, row, t);
        break;
    case TRC_READ_COUNT:
        tl_add_value(tl, row, t, e->value);
        break;
    case TRC_READ_INSTANT:
        if (!strcmp(e->name, "note"))
            see_note(tl, e);
        tl_add_instant(tl, row, t, e->name, &args);
        break;
    }
    return !tl->failed;
}

static vpu_status finish(tl_timeline *tl, vpu_status st, const char *name,
                         vpu_error *err)
{
    if (tl->failed)
        return err_set(err, VPU_ERR_NOMEM,
                       "%s: out of memory after %llu events", name,
                       (unsigned long long)tl->n_events);
    tl_finish(tl);
    if (st && st != VPU_ERR_NOMEM && tl->n_events) {
        snprintf(tl->partial, sizeof tl->partial, "%.500s", err->msg);
        return VPU_OK;
    }
    if (!st && !tl->n_events)
        return err_set(err, VPU_ERR_PARSE, "%s: a trace without events", name);
    return st;
}

static vpu_status load_from(const load_source *from, load_watch *watch,
                            tl_timeline *tl, vpu_error *err)
{
    loader k = {.tl = tl, .watch = watch, .last_row = UINT32_MAX};
    const trc_read_ops ops = {.track = on_track, .event = on_event, .user = &k};
    vpu_status st = tl_init(tl, err);

    if (st)
        return st;
    st = load_ahead(from, &ops, err);
    free(k.keys);
    st = finish(tl, st, from->name, err);
    if (!st && (k.stopped || k.full))
        snprintf(tl->partial, sizeof tl->partial,
                 "%.400s: %s after %llu events", from->name,
                 k.full ? "the memory given to it is full" : "stopped",
                 (unsigned long long)tl->n_events);
    return st;
}

vpu_status load_file(const char *path, tl_timeline *tl, vpu_error *err)
{
    return load_file_watched(path, NULL, tl, err);
}

vpu_status load_file_watched(const char *path, load_watch *w, tl_timeline *tl,
                             vpu_error *err)
{
    return load_from(&(const load_source){.name = path}, w, tl, err);
}

vpu_status load_bytes(const char *name, const void *data, size_t n_bytes,
                      tl_timeline *tl, vpu_error *err)
{
    return load_from(&(const load_source){name, data, n_bytes}, NULL, tl, err);
}
