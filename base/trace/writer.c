/* The format-independent half of trace writing: tracks, names, order checks.
 *
 *   trc_begin/end/... --> check order, intern names, cycles to ns
 *                     --> one sink_event --> each output's sink (sink.h)
 */
#include "base/trace/writer.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/trace/sink.h"

enum {
    MAX_OUTPUTS = 4,
    MAX_NAMES = 1024,  /* pooled; later names are spelled out each time */
    NAME_SLOTS = 4096, /* open addressing, a power of two */
    RECENT = 64,
    MAX_DEPTH = 64,
    MAX_NAME_BYTES = 256
};

typedef struct {
    sink_track s;
    trc_clock clock;
    uint64_t last_ns;
    uint32_t depth; /* open slices */
} track;

/* Names of events and of arguments are numbered apart, as in Perfetto. */
typedef struct {
    const char *text; /* NULL: a free slot */
    uint32_t bytes, iid;
} name_slot;

typedef struct {
    name_slot slots[NAME_SLOTS];
    const name_slot *recent[RECENT]; /* by the text's address; may be NULL */
    uint32_t n;
} name_pool;

typedef struct {
    const sink_ops *ops;
    sink s;
    file_out out;
} output;

struct trc_writer {
    arena *a;
    trc_config cfg;
    output outputs[MAX_OUTPUTS];
    size_t n_outputs;
    track *tracks;
    size_t n_tracks, cap_tracks;
    uint32_t n_processes;
    name_pool events, args;
    uint64_t last_cycles, last_ns; /* the same time; 0 is 0 */
};

uint64_t trc_cycles_to_ns(uint32_t clk_mhz, uint64_t cycles)
{
    /* What is left is below 1,000 * 1,000: short divisions are faster. */
    uint32_t left = (uint32_t)(cycles % clk_mhz) * 1000;

    return cycles / clk_mhz * 1000 + left / clk_mhz;
}

uint64_t trc_ns_to_cycles(uint32_t clk_mhz, uint64_t ns)
{
    return ns / 1000 * clk_mhz + (ns % 1000 * clk_mhz + 999) / 1000;
}

/* --- life ---------------------------------------------------------------- */

vpu_status trc_writer_create(const trc_config *cfg, trc_writer **out,
                             vpu_error *err)
{
    trc_writer *w;

    *out = NULL;
    if (cfg && cfg->clk_mhz > 1000)
        return err_set(err, VPU_ERR_INVALID,
                       "a trace's clock is at most 1000 MHz, not %u",
                       cfg->clk_mhz);
    if (!(w = calloc(1, sizeof *w)))
        return err_set(err, VPU_ERR_NOMEM, "no memory for a trace");
    w->a = arena_create(0);
    if (cfg)
        w->cfg = *cfg;
    if (!w->cfg.clk_mhz)
        w->cfg.clk_mhz = 700;
    if (!w->cfg.max_groups)
        w->cfg.max_groups = 100000;
    *out = w;
    return VPU_OK;
}

/* Frees everything; the file goes unless it is committed. */
static void close_output(output *o)
{
    if (o->ops->drop)
        o->ops->drop(&o->s);
    file_out_abandon(&o->out);
}

vpu_status trc_writer_add(trc_writer *w, trc_format format, const char *path,
                          vpu_error *err)
{
    static const sink_ops *const formats[] = {[TRC_PERFETTO] = &sink_perfetto,
                                              [TRC_CHROME_JSON] = &sink_chrome,
                                              [TRC_VCD] = &sink_vcd};
    output *o = &w->outputs[w->n_outputs];
    vpu_status st;

    if (w->n_outputs == MAX_OUTPUTS || w->n_tracks)
        return err_set(err, VPU_ERR_INVALID, "%s: %s", path,
                       w->n_tracks ? "the trace has already begun"
                                   : "too many trace outputs");
    if ((st = file_out_open(&o->out, path, err)))
        return st;
    o->ops = formats[format];
    o->s = (sink){.file = o->out.stream};
    if (!o->ops->open(&o->s)) {
        st = err_set(err, VPU_ERR_IO, "%s: no temporary file: %s", path,
                     strerror(errno));
        close_output(o);
        return st;
    }
    w->n_outputs++;
    return VPU_OK;
}

static void writer_free(trc_writer *w)
{
    arena_destroy(w->a);
    free(w);
}

void trc_writer_abandon(trc_writer *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->n_outputs; i++)
        close_output(&w->outputs[i]);
    writer_free(w);
}

static void emit(trc_writer *w, const sink_event *e)
{
    for (size_t i = 0; i < w->n_outputs; i++)
        w->outputs[i].ops->event(&w->outputs[i].s, e);
}

/* Of the innermost slice, now. */
static void emit_end(trc_writer *w, track *t)
{
    t->depth--;
    emit(w, &(sink_event){.kind = SINK_END, .track = &t->s, .ns = t->last_ns});
}

vpu_status trc_writer_commit(trc_writer *w, vpu_error *err)
{
    vpu_status st = VPU_OK;

    if (!w)
        return VPU_OK;
    for (size_t i = 0; i < w->n_tracks; i++) {
        track *t = &w->tracks[i];

        while (t->depth)
            emit_end(w, t);
    }
    for (size_t i = 0; i < w->n_outputs; i++) {
        output *o = &w->outputs[i];

        if (!o->ops->close(&o->s) && !st)
            st = err_set(err, VPU_ERR_IO,
                         "%s: its temporary file could not be written or read "
                         "back",
                         o->out.path);
        if (!st)
            st = file_out_commit(&o->out, err);
        close_output(o);
    }
    writer_free(w);
    return st;
}

trc_level trc_writer_level(const trc_writer *w)
{
    return w->cfg.level;
}

uint64_t trc_writer_max_groups(const trc_writer *w)
{
    return w->cfg.max_groups;
}

/* --- tracks -------------------------------------------------------------- */

static trc_track get_track(trc_writer *w, const sink_track *want,
                           trc_clock clock)
{
    track *t;

    assert(want->parent <= w->n_tracks);
    for (size_t i = 0; i < w->n_tracks && !w->cfg.bare; i++) {
        const sink_track *s = &w->tracks[i].s;

        if (s->parent == want->parent && s->kind == want->kind &&
            !strcmp(s->name, want->name))
            return s->id;
    }
    t = arena_append(w->a, w->tracks, w->n_tracks, w->cap_tracks);
    *t = (track){.s = *want, .clock = clock};
    t->s.id = (trc_track)w->n_tracks;
    t->s.name = arena_strdup(w->a, want->name);
    t->s.process =
        want->parent ? w->tracks[want->parent - 1].s.process : ++w->n_processes;
    for (size_t i = 0; i < w->n_outputs; i++)
        w->outputs[i].ops->track(&w->outputs[i].s, &t->s);
    return t->s.id;
}

static void about_once(trc_writer *w)
{
    static const char *const levels[] = {"summary", "groups", "full"};

    if (w->n_tracks || w->cfg.bare)
        return;
    get_track(w, &(sink_track){.kind = SINK_GROUP, .name = "vpusim"}, TRC_NS);
    get_track(w,
              &(sink_track){.kind = SINK_SLICES, .parent = 1, .name = "about"},
              TRC_NS);
    trc_note(w, "clk_mhz", "%u", w->cfg.clk_mhz);
    trc_note(w, "level", "%s", levels[w->cfg.level]);
}

trc_track trc_track_group(trc_writer *w, trc_track parent, const char *name)
{
    about_once(w);
    return get_track(
        w, &(sink_track){.kind = SINK_GROUP, .parent = parent, .name = name},
        TRC_NS);
}

trc_track trc_track_slices(trc_writer *w, trc_track parent, const char *name,
                           trc_clock clock)
{
    about_once(w);
    return get_track(
        w, &(sink_track){.kind = SINK_SLICES, .parent = parent, .name = name},
        clock);
}

trc_track trc_track_counter(trc_writer *w, trc_track parent, const char *name,
                            trc_clock clock, trc_unit unit)
{
    about_once(w);
    return get_track(
        w,
        &(sink_track){
            .kind = SINK_COUNTER, .parent = parent, .unit = unit, .name = name},
        clock);
}

uint32_t trc_track_children(const trc_writer *w, trc_track group)
{
    uint32_t n = 0;

    for (size_t i = 0; i < w->n_tracks; i++)
        n += w->tracks[i].s.parent == group;
    return n;
}

bool trc_track_exists(const trc_writer *w, trc_track group, const char *name)
{
    for (size_t i = 0; i < w->n_tracks; i++)
        if (w->tracks[i].s.parent == group &&
            !strcmp(w->tracks[i].s.name, name))
            return true;
    return false;
}

/* --- names --------------------------------------------------------------- */

/* Each event has some names: eight bytes at a time. */
static uint32_t hash_of(const char *name, size_t n)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t hash = n, word;
    size_t i;

    for (i = 0; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, name + i, sizeof word);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 32;
    }
    for (word = 0; i < n; i++)
        word = word << 8 | (unsigned char)name[i];
    return (uint32_t)((hash ^ word) * odd >> 32);
}

/* Where a name is, NULL when it is not pooled; *is_new on its first use. */
static const name_slot *find_name(trc_writer *w, name_pool *p, const char *name,
                                  bool *is_new)
{
    size_t n = strlen(name);
    uint32_t at = hash_of(name, n) % NAME_SLOTS;
    name_slot *s = &p->slots[at];

    for (; s->text; s = &p->slots[at]) {
        if (s->bytes == n && !memcmp(s->text, name, n))
            return s;
        at = (at + 1) % NAME_SLOTS;
    }
    if (p->n == MAX_NAMES || n > UINT32_MAX)
        return NULL;
    *is_new = true;
    *s = (name_slot){arena_strdup(w->a, name), (uint32_t)n, ++p->n};
    return s;
}

/* The number of a name, 0 when it is not pooled; *is_new on its first use. Most
 * names are constants: the text at the same place is the same again. */
static inline uint32_t intern(trc_writer *w, name_pool *p, const char *name,
                              bool *is_new)
{
    const name_slot **recent = &p->recent[(uintptr_t)name % RECENT];

    *is_new = false;
    if (!*recent || strcmp((*recent)->text, name))
        *recent = find_name(w, p, name, is_new);
    return *recent ? (*recent)->iid : 0;
}

/* --- events -------------------------------------------------------------- */

/* Where a slice ends, often the next begins. */
static uint64_t ns_of(trc_writer *w, uint64_t cycles)
{
    if (cycles != w->last_cycles) {
        w->last_cycles = cycles;
        w->last_ns = trc_cycles_to_ns(w->cfg.clk_mhz, cycles);
    }
    return w->last_ns;
}

static track *advance(trc_writer *w, trc_track id, uint64_t time,
                      sink_track_kind kind)
{
    track *t = &w->tracks[id - 1];
    uint64_t ns = t->clock == TRC_CYCLES ? ns_of(w, time) : time;

    assert(id && id <= w->n_tracks && t->s.kind == kind);
    assert(ns >= t->last_ns);
    (void)kind;
    t->last_ns = ns;
    return t;
}

/* "comp 7", of long names the beginning. */
static void put_numbered(char to[MAX_NAME_BYTES], const trc_event *e)
{
    char digits[20];
    size_t n = strnlen(e->name, 200), k = sizeof digits;
    uint64_t left = e->number;

    do
        digits[--k] = (char)('0' + left % 10);
    while (left /= 10);
    memcpy(to, e->name, n);
    to[n++] = ' ';
    memcpy(to + n, digits + k, sizeof digits - k);
    to[n + sizeof digits - k] = 0;
}

/* Field by field: clearing all of s first would take a good part of the time.
 */
static void send(trc_writer *w, const track *t, sink_event_kind kind,
                 const trc_event *e)
{
    uint32_t iids[TRC_MAX_ARGS];
    char name[MAX_NAME_BYTES];
    sink_event s;
    bool is_new;

    if (!w->n_outputs)
        return;
    assert(e->n_args <= TRC_MAX_ARGS);
    s.kind = kind;
    s.track = &t->s;
    s.ns = t->last_ns;
    s.name = s.base = NULL;
    s.name_iid = s.name_new = 0;
    s.idle = s.real = false;
    s.value = 0;
    s.real_value = 0;
    s.args = e->args;
    s.n_args = e->n_args;
    s.arg_iids = iids;
    s.arg_new = 0;
    s.flow = e->flow;
    s.flow_id = e->flow_id;
    for (size_t i = 0; i < e->n_args; i++) {
        iids[i] = intern(w, &w->args, e->args[i].name, &is_new);
        s.arg_new |= (uint32_t)is_new << i;
    }
    if (kind != SINK_END) {
        s.name = s.base = e->name;
        s.idle = e->idle;
        if (e->numbered) {
            put_numbered(name, e);
            s.name = name;
        } else {
            s.name_iid = intern(w, &w->events, e->name, &is_new);
            s.name_new = is_new;
        }
    }
    emit(w, &s);
}

void trc_begin(trc_writer *w, trc_track id, uint64_t time, const trc_event *e)
{
    track *t = advance(w, id, time, SINK_SLICES);

    assert(t->depth < MAX_DEPTH);
    t->depth++;
    send(w, t, SINK_BEGIN, e);
}

void trc_end(trc_writer *w, trc_track id, uint64_t time, const trc_arg *args,
             size_t n_args)
{
    track *t = advance(w, id, time, SINK_SLICES);

    assert(t->depth);
    t->depth--;
    send(w, t, SINK_END, &(trc_event){.args = args, .n_args = n_args});
}

void trc_slice(trc_writer *w, trc_track id, uint64_t begin, uint64_t end,
               const trc_event *e)
{
    trc_begin(w, id, begin, e);
    emit_end(w, advance(w, id, end, SINK_SLICES));
}

void trc_instant(trc_writer *w, trc_track id, uint64_t time, const trc_event *e)
{
    send(w, advance(w, id, time, SINK_SLICES), SINK_INSTANT, e);
}

void trc_count(trc_writer *w, trc_track id, uint64_t time, int64_t value)
{
    track *t = advance(w, id, time, SINK_COUNTER);

    emit(w, &(sink_event){.kind = SINK_COUNT,
                          .track = &t->s,
                          .ns = t->last_ns,
                          .value = value});
}

void trc_count_real(trc_writer *w, trc_track id, uint64_t time, double value)
{
    track *t = advance(w, id, time, SINK_COUNTER);

    emit(w, &(sink_event){.kind = SINK_COUNT,
                          .track = &t->s,
                          .ns = t->last_ns,
                          .real = true,
                          .real_value = value});
}

void trc_note(trc_writer *w, const char *key, const char *fmt, ...)
{
    char text[512];
    trc_arg arg;
    va_list ap;

    about_once(w);
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    arg = TRC_TEXT(key, text);
    trc_instant(w, 2, 0,
                &(trc_event){.name = "note", .args = &arg, .n_args = 1});
}
