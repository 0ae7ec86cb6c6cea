/* Tracks come to a writer as groups or with events, files tell only afterwards:
 * so a first reading finds out, a second one copies. */
#include "base/trace/copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/slots.h"
#include "base/str.h"
#include "base/trace/reader.h"

enum { MAX_DEPTH = 64, MAX_TRACKS = 1 << 16 };

/* A begin that is not written yet: it lies before the stretch. */
typedef struct {
    char *name;
    trc_arg *args; /* texts and names behind them in the same block */
    size_t n_args;
    trc_flow flow;
    uint64_t flow_id;
} held;

typedef struct {
    uint64_t uuid, parent;
    char *name;
    bool counter, has_events, has_children, parent_known;
    trc_unit unit;
    trc_track to;    /* where its events go */
    trc_track group; /* where its children go */
    uint64_t last;   /* time written last */
    held *open;      /* slices that began before the stretch; MAX_DEPTH */
    uint32_t n_held;
    uint32_t depth;  /* written begins without their end */
    uint32_t beyond; /* begins that were dropped */
    bool value_due, value_real;
    double value; /* at the begin of the stretch */
} track;

typedef struct {
    track **tracks;
    size_t n, cap;
    slots by_uuid;   /* the track's number + 1 */
    uint64_t *flows; /* ids that were met; the first is none */
    size_t n_flows, cap_flows;
    slots by_flow;
    uint32_t clk_mhz;
    uint64_t from, to; /* ns */
    trc_writer *w;
    trc_copied *done;
    vpu_status st;
    bool too_many;
} copier;

/* --- tracks -------------------------------------------------------------- */

static uint32_t *slot(copier *k, uint64_t uuid)
{
    for (uint64_t at = slots_hash(&k->by_uuid, uuid, 0);; at++) {
        uint32_t *s = slots_at(&k->by_uuid, at);

        if (!*s || k->tracks[*s - 1]->uuid == uuid)
            return s;
    }
}

static uint64_t hash_of_track(const slots *s, const void *user, uint32_t i)
{
    track *const *tracks = user;

    return slots_hash(s, tracks[i - 1]->uuid, 0);
}

/* NULL: out of memory or too many; k->st or k->too_many says. */
static track *track_of(copier *k, uint64_t uuid)
{
    uint32_t known = *slot(k, uuid);
    track *t;

    if (known)
        return k->tracks[known - 1];
    if (k->n == MAX_TRACKS) {
        k->too_many = true;
        return NULL;
    }
    if (!slots_reserve(&k->by_uuid, (uint32_t)k->n, hash_of_track, k->tracks) ||
        !(t = calloc(1, sizeof *t))) {
        k->st = VPU_ERR_NOMEM;
        return NULL;
    }
    t->uuid = uuid;
    k->tracks[k->n++] = t;
    *slot(k, uuid) = (uint32_t)k->n;
    return t;
}

static void drop_held(held *h)
{
    free(h->name);
    free(h->args);
    *h = (held){0};
}

static void copier_free(copier *k)
{
    for (size_t i = 0; i < k->n; i++) {
        for (uint32_t d = 0; d < k->tracks[i]->n_held; d++)
            drop_held(&k->tracks[i]->open[d]);
        free(k->tracks[i]->open);
        free(k->tracks[i]->name);
        free(k->tracks[i]);
    }
    free(k->tracks);
    free(k->flows);
    slots_free(&k->by_uuid);
    slots_free(&k->by_flow);
}

/* --- the first reading --------------------------------------------------- */

static bool see_track(void *user, const trc_read_track *r)
{
    copier *k = user;
    track *t = track_of(k, r->uuid);

    if (!t)
        return false;
    free(t->name);
    t->name = strdup(r->name);
    t->parent = r->parent_uuid;
    t->counter = r->counter;
    t->unit = r->unit;
    if (!t->name)
        k->st = VPU_ERR_NOMEM;
    return !k->st;
}

static bool see_event(void *user, const trc_read_event *e)
{
    copier *k = user;
    track *t = track_of(k, e->uuid);
    unsigned long long mhz;

    if (!t)
        return false;
    t->has_events = true;
    if (e->kind == TRC_READ_COUNT)
        t->counter = true;
    for (size_t i = 0; i < e->n_args && !k->clk_mhz; i++)
        if (e->kind == TRC_READ_INSTANT && !strcmp(e->name, "note") &&
            e->args[i].kind == TRC_ARG_TEXT &&
            !strcmp(e->args[i].name, "clk_mhz") &&
            str_to_u64(e->args[i].text, &mhz) && mhz >= 1 && mhz <= 1000)
            k->clk_mhz = (uint32_t)mhz;
    return true;
}

/* --- the second ---------------------------------------------------------- */

/* Groups for those with children; a track with children and events of its own
 * is a group with a track of the same name in it. */
static trc_track group_of(copier *k, track *t, int depth)
{
    uint32_t *s = t->parent ? slot(k, t->parent) : NULL;
    trc_track parent = 0;

    if (t->group)
        return t->group;
    if (s && *s && depth < MAX_DEPTH)
        parent = group_of(k, k->tracks[*s - 1], depth + 1);
    return t->group = trc_track_group(k->w, parent, t->name ? t->name : "");
}

static trc_track target(copier *k, track *t)
{
    uint32_t *s = t->parent ? slot(k, t->parent) : NULL;
    trc_track parent = 0;

    if (t->to)
        return t->to;
    if (s && *s)
        parent = group_of(k, k->tracks[*s - 1], 0);
    else if (t->has_children)
        parent = group_of(k, t, 0);
    t->to = t->counter ? trc_track_counter(k->w, parent, t->name ? t->name : "",
                                           TRC_NS, t->unit)
                       : trc_track_slices(k->w, parent, t->name ? t->name : "",
                                          TRC_NS);
    return t->to;
}

static bool copy_track(void *user, const trc_read_track *r)
{
    copier *k = user;
    track *t = track_of(k, r->uuid);

    if (!t)
        return false;
    if (t->has_events)
        target(k, t);
    else
        group_of(k, t, 0);
    return true;
}

static uint32_t *flow_slot(copier *k, uint64_t id)
{
    for (uint64_t at = slots_hash(&k->by_flow, id, 0);; at++) {
        uint32_t *s = slots_at(&k->by_flow, at);

        if (!*s || k->flows[*s] == id)
            return s;
    }
}

static uint64_t hash_of_flow(const slots *s, const void *user, uint32_t i)
{
    return slots_hash(s, ((const uint64_t *)user)[i], 0);
}

/* Room for another id; false: k->st says. */
static bool grow_flows(copier *k)
{
    size_t cap = k->cap_flows ? 2 * k->cap_flows : 64;
    uint64_t *flows = k->flows;

    if (k->n_flows + 1 >= k->cap_flows) {
        flows = k->n_flows < UINT32_MAX / 2
                    ? realloc(k->flows, cap * sizeof *flows)
                    : NULL;
        if (flows) {
            k->flows = flows;
            k->cap_flows = cap;
        }
    }
    if (flows && slots_reserve(&k->by_flow, (uint32_t)k->n_flows, hash_of_flow,
                               k->flows))
        return true;
    k->st = VPU_ERR_NOMEM;
    return false;
}

/* Files do not tell the begin of an arrow from its other points: it is the
 * first. */
static trc_flow flow_of(copier *k, trc_flow flow, uint64_t id)
{
    if (flow != TRC_FLOW_STEP || !id || *flow_slot(k, id) || !grow_flows(k))
        return flow;
    k->flows[++k->n_flows] = id;
    *flow_slot(k, id) = (uint32_t)k->n_flows;
    return TRC_FLOW_START;
}

/* "comp 7" as the writer spells it from parts, so that it is not pooled. */
static void split(const char *name, str *base, trc_event *out)
{
    size_t n = strlen(name), at = n;
    unsigned long long number;

    while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    out->name = name;
    if (at == n || at < 2 || name[at - 1] != ' ' ||
        (name[at] == '0' && n - at > 1) || !str_to_u64(name + at, &number))
        return;
    str_add(base, name, at - 1);
    out->name = str_text(base);
    out->numbered = true;
    out->number = number;
}

static void begin(copier *k, track *t, uint64_t at, const trc_read_event *from)
{
    trc_event e = {.args = from->args,
                   .n_args = from->n_args,
                   .flow = flow_of(k, from->flow, from->flow_id),
                   .flow_id = from->flow_id};
    str base = {0};

    split(from->name, &base, &e);
    e.idle = !strcmp(from->name, "idle");
    trc_begin(k->w, target(k, t), at, &e);
    str_free(&base);
    t->depth++;
    t->last = at;
    k->done->n_events++;
}

static bool hold(copier *k, track *t, const trc_read_event *e)
{
    held *h;
    size_t bytes = 0;
    char *text;

    if (!t->open && !(t->open = calloc(MAX_DEPTH, sizeof *t->open))) {
        k->st = VPU_ERR_NOMEM;
        return false;
    }
    h = &t->open[t->n_held];
    for (size_t i = 0; i < e->n_args; i++)
        bytes +=
            strlen(e->args[i].name) + 1 +
            (e->args[i].kind == TRC_ARG_TEXT ? strlen(e->args[i].text) + 1 : 0);
    *h = (held){.name = strdup(e->name),
                .args = malloc(e->n_args * sizeof *h->args + bytes + 1),
                .n_args = e->n_args,
                .flow = e->flow,
                .flow_id = e->flow_id};
    t->n_held++;
    if (!h->name || !h->args) {
        k->st = VPU_ERR_NOMEM;
        return false;
    }
    text = (char *)(h->args + e->n_args);
    for (size_t i = 0; i < e->n_args; i++) {
        h->args[i] = e->args[i];
        h->args[i].name = text;
        text = stpcpy(text, e->args[i].name) + 1;
        if (e->args[i].kind == TRC_ARG_TEXT) {
            h->args[i].text = text;
            text = stpcpy(text, e->args[i].text) + 1;
        }
    }
    return true;
}

static void count(copier *k, track *t, uint64_t at, double value, bool real)
{
    if (real)
        trc_count_real(k->w, target(k, t), at, value);
    else
        trc_count(k->w, target(k, t), at, (int64_t)value);
    t->last = at;
    k->done->n_events++;
}

/* What was open when the stretch began, now that something in it is written. */
static void release(copier *k, track *t)
{
    for (uint32_t i = 0; i < t->n_held; i++) {
        held *h = &t->open[i];

        begin(k, t, k->from,
              &(const trc_read_event){.name = h->name,
                                      .args = h->args,
                                      .n_args = h->n_args,
                                      .flow = h->flow,
                                      .flow_id = h->flow_id});
        drop_held(h);
    }
    t->n_held = 0;
    if (t->value_due) {
        count(k, t, k->from, t->value, t->value_real);
        t->value_due = false;
    }
}

static bool on_begin(copier *k, track *t, const trc_read_event *e)
{
    if (t->beyond || t->depth + t->n_held >= MAX_DEPTH || e->ns >= k->to) {
        t->beyond++;
        k->done->n_skipped += e->ns < k->to;
        return true;
    }
    if (e->ns < k->from)
        return hold(k, t, e);
    release(k, t);
    begin(k, t, e->ns, e);
    return true;
}

static void on_end(copier *k, track *t, const trc_read_event *e)
{
    uint64_t at = e->ns < k->to ? e->ns : k->to;

    if (t->beyond) {
        t->beyond--;
        return;
    }
    if (t->n_held && at <= k->from) {
        drop_held(&t->open[--t->n_held]);
        return;
    }
    release(k, t);
    if (!t->depth) {
        k->done->n_skipped++;
        return;
    }
    trc_end(k->w, target(k, t), at, e->args, e->n_args);
    t->depth--;
    t->last = at;
    k->done->n_events++;
}

static void on_count(copier *k, track *t, const trc_read_event *e)
{
    if (e->ns <= k->from && k->from) {
        t->value = e->value;
        t->value_real = e->real;
        t->value_due = true;
    } else if (e->ns < k->to) {
        release(k, t);
        count(k, t, e->ns, e->value, e->real);
    }
}

static void on_instant(copier *k, track *t, const trc_read_event *e)
{
    trc_event out = {.name = e->name,
                     .args = e->args,
                     .n_args = e->n_args,
                     .flow = flow_of(k, e->flow, e->flow_id),
                     .flow_id = e->flow_id};
    /* Remarks about the whole trace stay with any part of it. */
    bool about = !e->ns && !strcmp(e->name, "note");

    if (!about && (e->ns < k->from || e->ns >= k->to))
        return;
    if (!about)
        release(k, t);
    trc_instant(k->w, target(k, t), e->ns, &out);
    t->last = e->ns;
    k->done->n_events++;
}

static bool copy_event(void *user, const trc_read_event *e)
{
    copier *k = user;
    track *t = track_of(k, e->uuid);

    if (!t)
        return false;
    if (e->ns < t->last || (e->kind == TRC_READ_COUNT) != t->counter) {
        /* A begin that is left out takes its end with it. */
        if (e->kind == TRC_READ_BEGIN)
            t->beyond++;
        else if (e->kind == TRC_READ_END && t->beyond)
            t->beyond--;
        k->done->n_skipped += e->kind != TRC_READ_END;
        return true;
    }
    switch (e->kind) {
    case TRC_READ_BEGIN:
        return on_begin(k, t, e);
    case TRC_READ_END:
        on_end(k, t, e);
        break;
    case TRC_READ_COUNT:
        on_count(k, t, e);
        break;
    case TRC_READ_INSTANT:
        on_instant(k, t, e);
        break;
    }
    return !k->st;
}

/* Slices that outlast the stretch, and values that do not change in it. */
static void finish(copier *k)
{
    for (size_t i = 0; i < k->n; i++) {
        track *t = k->tracks[i];

        release(k, t);
        for (; t->depth && k->to != UINT64_MAX; t->depth--)
            trc_end(k->w, t->to, k->to, NULL, 0);
    }
}

static vpu_status bounds(copier *k, const trc_stretch *s, vpu_error *err)
{
    const trc_time *ends[2] = {&s->from, &s->to};
    uint64_t ns[2];

    k->from = 0;
    k->to = UINT64_MAX;
    if (s->all)
        return VPU_OK;
    for (int i = 0; i < 2; i++) {
        ns[i] = ends[i]->time;
        if (ends[i]->unit == TRC_TIME_CYCLES) {
            if (!k->clk_mhz)
                return err_set(err, VPU_ERR_INVALID,
                               "the trace notes no clock: give times in ns, "
                               "us or ms");
            ns[i] = ns[i] > UINT64_MAX / 1000
                        ? UINT64_MAX
                        : trc_cycles_to_ns(k->clk_mhz, ns[i]);
        }
    }
    if (ns[0] >= ns[1])
        return err_set(err, VPU_ERR_INVALID, "%llu ns is not before %llu ns",
                       (unsigned long long)ns[0], (unsigned long long)ns[1]);
    k->from = ns[0];
    k->to = ns[1];
    return VPU_OK;
}

static void mark_parents(copier *k)
{
    for (size_t i = 0; i < k->n; i++) {
        uint32_t *s =
            k->tracks[i]->parent ? slot(k, k->tracks[i]->parent) : NULL;

        if (s && *s)
            k->tracks[*s - 1]->has_children = true;
    }
}

static vpu_status ended(const copier *k, vpu_status st, vpu_error *err)
{
    if (k->st)
        return err_set(err, k->st, "no memory to copy a trace");
    if (k->too_many)
        return err_set(err, VPU_ERR_LIMIT, "more than %d tracks", MAX_TRACKS);
    return st;
}

vpu_status trc_copy(const char *path, const trc_stretch *stretch, trc_writer *w,
                    trc_copied *done, vpu_error *err)
{
    copier k = {.w = w, .done = done};
    trc_read_ops first = {.track = see_track, .event = see_event, .user = &k};
    trc_read_ops second = {
        .track = copy_track, .event = copy_event, .user = &k};
    vpu_status st;

    *done = (trc_copied){0};
    k.tracks = malloc(MAX_TRACKS * sizeof *k.tracks);
    if (!k.tracks || !slots_init(&k.by_uuid) || !slots_init(&k.by_flow)) {
        copier_free(&k);
        return err_set(err, VPU_ERR_NOMEM, "no memory to copy a trace");
    }
    st = ended(&k, trc_read_file(path, &first, err), err);
    if (!st)
        st = bounds(&k, stretch, err);
    if (!st) {
        mark_parents(&k);
        st = ended(&k, trc_read_file(path, &second, err), err);
    }
    if (!st)
        finish(&k);
    copier_free(&k);
    return st;
}
