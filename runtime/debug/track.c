/* Keeps account of a work-group while it runs. */
#include <stdlib.h>
#include <string.h>

#include "runtime/debug/session.h"

enum { FIRST_TABLE = 1024, MAX_HIT_LINES = 1 << 20 };

int dbg_compare(const dbg_pos *a, const dbg_pos *b)
{
    if (a->launch != b->launch)
        return a->launch < b->launch ? -1 : 1;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

void track_init(dbg_session *s)
{
    s->cap_sites = s->cap_vars = FIRST_TABLE;
    s->sites = arena_array(s->arena, dbg_site *, s->cap_sites);
    s->vars = arena_array(s->arena, dbg_var *, s->cap_vars);
    s->items_arena = arena_create(0);
}

/* --- texts, read once ---------------------------------------------------- */

static size_t slot_of(const void *key, size_t cap)
{
    return ((uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (cap - 1);
}

/* The field up to the next tab, in the arena; *p goes behind it. */
static char *field(dbg_session *s, const char **p)
{
    size_t n = strcspn(*p, "\t");
    char *f = arena_strndup(s->arena, *p, n);

    *p += n + ((*p)[n] == '\t');
    return f;
}

static uint32_t number(dbg_session *s, const char **p)
{
    return (uint32_t)strtoul(field(s, p), NULL, 10);
}

/* The functions of a site: its own, and what calls it. */
static void read_frames(dbg_session *s, dbg_site *x, const char *p)
{
    x->n_frames = x->depth + 1;
    x->frames = arena_array(s->arena, dbg_frame, x->n_frames);
    x->frames[0] = (dbg_frame){x->line, 0, x->file, x->function};
    for (uint32_t k = 1; k < x->n_frames; k++) {
        dbg_frame *f = &x->frames[k];

        f->first = number(s, &p);
        f->line = number(s, &p);
        f->file = field(s, &p);
        f->function = field(s, &p);
    }
}

dbg_site *track_read_site(dbg_session *s, const char *text)
{
    dbg_site *x = arena_new(s->arena, dbg_site);
    const char *p = text;
    char *list, *word;
    size_t cap = 0, n = 0;

    x->key = text;
    x->kind = *field(s, &p);
    x->line = number(s, &p);
    x->col = number(s, &p);
    x->depth = number(s, &p);
    list = field(s, &p);
    while ((word = strsep(&list, ",")))
        *arena_append(s->arena, x->scopes, n, cap) =
            (uint32_t)strtoul(word, NULL, 10);
    x->n_scopes = (uint32_t)n;
    x->file = field(s, &p);
    x->function = field(s, &p);
    read_frames(s, x, p);
    return x;
}

uint32_t track_scopes_end(const dbg_site *x, uint32_t frame)
{
    return frame + 1 < x->n_frames ? x->frames[frame + 1].first : x->n_scopes;
}

uint32_t track_function_scope(const dbg_site *x, uint32_t frame)
{
    uint32_t end = track_scopes_end(x, frame);

    return end ? x->scopes[end - 1] : 0;
}

static void grow_sites(dbg_session *s)
{
    size_t cap = 2 * s->cap_sites;
    dbg_site **more = arena_array(s->arena, dbg_site *, cap);

    for (size_t k = 0; k < s->cap_sites; k++) {
        size_t at;

        if (!s->sites[k])
            continue;
        for (at = slot_of(s->sites[k]->key, cap); more[at];)
            at = (at + 1) & (cap - 1);
        more[at] = s->sites[k];
    }
    s->sites = more;
    s->cap_sites = cap;
}

static const dbg_site *site_of(dbg_session *s, const char *text)
{
    size_t at = slot_of(text, s->cap_sites);

    while (s->sites[at] && s->sites[at]->key != text)
        at = (at + 1) & (s->cap_sites - 1);
    if (s->sites[at])
        return s->sites[at];
    if (2 * ++s->n_sites > s->cap_sites) {
        grow_sites(s);
        at = slot_of(text, s->cap_sites);
        while (s->sites[at])
            at = (at + 1) & (s->cap_sites - 1);
    }
    return s->sites[at] = track_read_site(s, text);
}

void track_bundle(dbg_session *s, uint32_t line, uint32_t col)
{
    dbg_site *x = &s->bundle_sites[s->pos.event % 2];

    *x = (dbg_site){
        .kind = 'b',
        .line = line,
        .col = col,
        .file = backend_launch_of(&s->sim, s->pos.launch)->kernel->source,
        .function = dbg_session_launch(s)->entry,
        .frames = &s->bundle_frames[s->pos.event % 2],
        .n_frames = 1};
    *x->frames = (dbg_frame){line, 0, x->file, x->function};
    s->before = s->site;
    s->site = x;
    s->pos.event++;
}

static dbg_var *read_var(dbg_session *s, const char *text)
{
    dbg_var *x = arena_new(s->arena, dbg_var);
    const char *p = text;

    x->key = x->text = text;
    x->scope = number(s, &p);
    x->name = field(s, &p);
    x->line = number(s, &p);
    x->type = dbg_type_parse(p, s->arena);
    for (size_t k = 0; k < s->n_numbers; k++)
        if (!strcmp(s->by_number[k]->text, text)) {
            x->number = (uint32_t)k;
            return x;
        }
    x->number = (uint32_t)s->n_numbers;
    *arena_append(s->arena, s->by_number, s->n_numbers, s->cap_numbers) = x;
    return x;
}

/* Few: the table is made large enough for all there can be. */
static const dbg_var *var_of(dbg_session *s, const char *text)
{
    size_t at = slot_of(text, s->cap_vars);

    while (s->vars[at] && s->vars[at]->key != text)
        at = (at + 1) & (s->cap_vars - 1);
    if (s->vars[at])
        return s->vars[at];
    if (2 * (s->n_vars + 1) > s->cap_vars) {
        dbg_var **old = s->vars;
        size_t n = s->cap_vars;

        s->cap_vars *= 2;
        s->vars = arena_array(s->arena, dbg_var *, s->cap_vars);
        for (size_t k = 0; k < n; k++) {
            size_t to = old[k] ? slot_of(old[k]->key, s->cap_vars) : 0;

            while (old[k] && s->vars[to])
                to = (to + 1) & (s->cap_vars - 1);
            if (old[k])
                s->vars[to] = old[k];
        }
        at = slot_of(text, s->cap_vars);
        while (s->vars[at])
            at = (at + 1) & (s->cap_vars - 1);
    }
    s->n_vars++;
    return s->vars[at] = read_var(s, text);
}

/* --- a group ------------------------------------------------------------- */

void track_phase(dbg_session *s, uint64_t index, uint64_t group,
                 mach_phase phase)
{
    const graph_launch *l = dbg_session_launch(s);

    if (s->pos.index != index)
        s->pos.event = 0;
    s->pos.index = index;
    s->group = group;
    s->phase = phase;
    arena_destroy(s->items_arena);
    s->items_arena = arena_create(0);
    s->n_items = l->local[0] * l->local[1] * l->local[2];
    s->items = arena_array(s->items_arena, dbg_item, s->n_items);
    s->cur = 0;
    s->site = s->before = NULL;
    s->n_pending = 0;
}

void track_var(dbg_session *s, const char *text, const uint8_t *at)
{
    if (s->n_pending < sizeof s->pending / sizeof *s->pending) {
        s->pending[s->n_pending] = text;
        s->pending_at[s->n_pending++] = at;
    }
}

static void take_pending(dbg_session *s, dbg_item *it)
{
    for (uint32_t k = 0; k < s->n_pending; k++) {
        const dbg_var *v = var_of(s, s->pending[k]);

        if (v->number >= it->n_at) {
            uint32_t n = v->number + 32;
            const uint8_t **at =
                arena_array(s->items_arena, const uint8_t *, n);

            if (it->n_at)
                memcpy(at, it->at, it->n_at * sizeof *at);
            it->at = at;
            it->n_at = n;
        }
        it->at[v->number] = s->pending_at[k];
    }
    s->n_pending = 0;
}

static void count_hit(dbg_session *s, dbg_item *it, uint32_t line)
{
    if (line >= MAX_HIT_LINES)
        return;
    if (line >= it->n_hits) {
        uint32_t n = line + 64;
        uint32_t *hits = arena_array(s->items_arena, uint32_t, n);

        if (it->n_hits)
            memcpy(hits, it->hits, it->n_hits * sizeof *hits);
        it->hits = hits;
        it->n_hits = n;
    }
    it->hits[line]++;
}

/* A line is come to once: not again in its other blocks, at its collective
 * operation, or when a call that stands on it returns. */
static bool arrives(const dbg_item *it, const dbg_site *old,
                    const dbg_site *site)
{
    if (site->kind == 's')
        return false;
    if (!old)
        return true;
    if (old->depth > site->depth && site->depth < MAX_DEPTH &&
        it->calls[site->depth] == site->line)
        return false;
    return old->line != site->line || old->depth != site->depth;
}

void track_line(dbg_session *s, const char *text, const uint32_t id[3])
{
    const graph_launch *l = dbg_session_launch(s);
    const dbg_site *site = site_of(s, text);
    uint32_t item = (id[2] * l->local[1] + id[1]) * l->local[0] + id[0];
    dbg_item *it = &s->items[item < s->n_items ? item : 0];
    const dbg_site *old = it->state == ITEM_RUNNING ? it->site : NULL;

    s->before = s->site;
    s->before_item = s->cur;
    s->cur = item < s->n_items ? item : 0;
    s->site = site;
    s->pos.event++;
    take_pending(s, it);
    it->fresh = !it->site;
    it->arrived = arrives(it, old, site);
    if (site->depth < MAX_DEPTH)
        it->calls[site->depth] = site->line;
    it->site = site;
    it->state = site->kind == 's'   ? ITEM_WAITS
                : site->kind == 'e' ? ITEM_DONE
                                    : ITEM_RUNNING;
    if (it->arrived)
        count_hit(s, it, site->line);
}

const uint8_t *track_at(const dbg_item *it, const dbg_var *v)
{
    return v->number < it->n_at ? it->at[v->number] : NULL;
}

const dbg_var *track_find(const dbg_session *s, const dbg_item *it,
                          const char *name)
{
    const dbg_site *x = it->site;
    uint32_t frame = s->frame;

    for (uint32_t k = x ? x->frames[frame].first : 0; x && k < x->n_scopes;
         k++) {
        const dbg_var *best = NULL;
        uint32_t line;

        while (k >= track_scopes_end(x, frame) && frame + 1 < x->n_frames)
            frame++;
        line = x->frames[frame].line;

        for (size_t n = 0; n < s->n_numbers; n++) {
            const dbg_var *v = s->by_number[n];

            if (v->scope == x->scopes[k] && track_at(it, v) &&
                !strcmp(v->name, name) &&
                (!best || (v->line <= line && v->line > best->line)))
                best = v;
        }
        if (best)
            return best;
    }
    return NULL;
}

void track_item_id(const dbg_session *s, uint32_t item, uint32_t id[3])
{
    const graph_launch *l = dbg_session_launch(s);

    id[0] = item % l->local[0];
    id[1] = item / l->local[0] % l->local[1];
    id[2] = item / l->local[0] / l->local[1];
}
