/* Which points have no result yet: each name is looked up once. */
#include "runtime/sweep/pending.h"

#include <stdlib.h>
#include <string.h>

#include "base/oom.h"

/* Names seen so far; a power of two of places, half of them empty at least. */
typedef struct {
    char (*names)[SWEEP_HASH];
    size_t n, places;
} name_set;

static size_t place_of(const name_set *s, const char *name)
{
    char front[16];
    size_t i;

    memcpy(front, name, 15);
    front[15] = 0;
    i = (size_t)strtoull(front, NULL, 16);
    for (i &= s->places - 1; *s->names[i]; i = (i + 1) & (s->places - 1))
        if (!strcmp(s->names[i], name))
            break;
    return i;
}

static void grow(name_set *s)
{
    name_set next = {.places = s->places ? 2 * s->places : 1024};

    next.names = oom_malloc(next.places * sizeof *next.names);
    memset(next.names, 0, next.places * sizeof *next.names);
    for (size_t i = 0; i < s->places; i++)
        if (*s->names[i])
            memcpy(next.names[place_of(&next, s->names[i])], s->names[i],
                   SWEEP_HASH);
    next.n = s->n;
    free(s->names);
    *s = next;
}

/* False: it was there. */
static bool add_name(name_set *s, const char *name)
{
    size_t i;

    if (2 * s->n >= s->places)
        grow(s);
    i = place_of(s, name);
    if (*s->names[i])
        return false;
    memcpy(s->names[i], name, SWEEP_HASH);
    s->n++;
    return true;
}

typedef struct {
    const sweep_store *store;
    uint64_t part, parts;
    arena *a, *scratch;
    sweep_cursor cursor;
    name_set names;
    sweep_pending *list;
    size_t n, cap;
    sweep_tally *tally;
} search;

static bool has_result(const search *s, const char *name)
{
    json_t *figures = sweep_store_result(s->store, name);

    json_decref(figures);
    return figures != NULL;
}

static vpu_status look_at(void *user, const sweep_point *p, vpu_error *err)
{
    search *s = user;
    bool is_new = add_name(&s->names, p->name);

    (void)err;
    if (s->parts && p->number % s->parts != s->part)
        return VPU_OK;
    s->tally->points++;
    if (!is_new || has_result(s, p->name))
        s->tally->there++;
    else
        *arena_append(s->a, s->list, s->n, s->cap) =
            (sweep_pending){p->number, s->cursor.at, s->cursor.n};
    return VPU_OK;
}

static vpu_status look(void *user, vpu_error *err)
{
    search *s = user;

    return sweep_cursor_each(&s->cursor, s->store, SWEEP_POINTS, s->scratch,
                             look_at, s, err);
}

static void end(void *user)
{
    search *s = user;

    sweep_cursor_close(&s->cursor);
    free(s->names.names);
    arena_destroy(s->scratch);
}

vpu_status sweep_pending_find(const sweep_store *s, uint64_t part,
                              uint64_t parts, arena *a, sweep_pending **out,
                              size_t *n, sweep_tally *tally, vpu_error *err)
{
    search x = {.store = s,
                .part = part,
                .parts = parts,
                .a = a,
                .scratch = arena_create(0),
                .tally = tally};
    vpu_status st = oom_finally(look, end, &x, err);

    *out = x.list;
    *n = x.n;
    return st;
}
