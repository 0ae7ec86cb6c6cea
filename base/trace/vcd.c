/* Value change dumps (IEEE 1364, 18.2): per track of slices a bit `busy` and an
 * enumeration `state`, the name of the innermost open slice.
 *
 * A dump goes forward in time over all tracks; a trace only on each of them. So
 * changes are kept per track, in chunks of fixed size in an anonymous temporary
 * file, and merged when the trace ends. Memory: two chunks per track.
 *
 *   chunk   [ offset of the track's next chunk | change | change | … ]
 *
 * The next chunk's place is set aside when a chunk is written, so that chunks
 * are written once, wherever the others are. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/trace/sink.h"

enum { PER_CHUNK = 255, MAX_STATES = 255, MAX_OPEN = 64 };

typedef struct {
    uint64_t ns;
    uint32_t state;
    uint32_t busy;
} change;

typedef struct {
    uint64_t next; /* offset */
    change c[PER_CHUNK];
} chunk;

typedef struct {
    char *name;
    trc_track parent;
    bool slices, any; /* any: some slice was seen */
    /* Open slices, outermost first. */
    struct {
        uint32_t state;
        bool idle;
    } open[MAX_OPEN];
    uint32_t depth;
    change last;          /* not in the buffer yet: more may come at its time */
    chunk *buffer;        /* being filled */
    uint32_t n;           /* in it */
    uint64_t n_full;      /* chunks in the file */
    uint64_t first, here; /* offsets: of the first, of the buffer */
    /* Merging: */
    change written;
    chunk *read; /* NULL: reading the buffer */
    uint64_t n_read;
    uint32_t at, n_at;
} vcd_track;

typedef struct {
    FILE *temp;
    uint64_t end; /* of the file, with what is set aside */
    vcd_track *tracks;
    uint32_t n_tracks;
    char *states[MAX_STATES + 1]; /* 0 = no slice is open */
    uint32_t n_states;
    bool bad; /* the temporary cannot be written or memory is short */
} vcd;

/* --- keeping changes ----------------------------------------------------- */

static bool open_vcd(sink *s)
{
    vcd *v = calloc(1, sizeof *v);

    s->state = v;
    if (!v || !(v->temp = tmpfile()))
        return false;
    v->n_states = 1;
    return true;
}

static void drop_vcd(sink *s)
{
    vcd *v = s->state;

    if (!v)
        return;
    for (uint32_t i = 0; i < v->n_tracks; i++) {
        free(v->tracks[i].name);
        free(v->tracks[i].buffer);
        free(v->tracks[i].read);
    }
    for (uint32_t i = 0; i < v->n_states; i++)
        free(v->states[i]);
    if (v->temp)
        fclose(v->temp);
    free(v->tracks);
    free(v);
    s->state = NULL;
}

/* Tracks come with ids 1, 2, … */
static void add_track(sink *s, const sink_track *t)
{
    vcd *v = s->state;
    vcd_track *more = realloc(v->tracks, t->id * sizeof *more);

    if (!more) {
        v->bad = true;
        return;
    }
    v->tracks = more;
    v->n_tracks = t->id;
    more[t->id - 1] = (vcd_track){.name = strdup(t->name),
                                  .parent = t->parent,
                                  .slices = t->kind == SINK_SLICES};
    v->bad |= !more[t->id - 1].name;
}

static uint32_t state_of(vcd *v, const char *name)
{
    for (uint32_t k = 1; k < v->n_states; k++)
        if (!strcmp(v->states[k], name))
            return k;
    if (v->n_states > MAX_STATES)
        return MAX_STATES; /* more names than anybody would look at */
    if (!(v->states[v->n_states] = strdup(name))) {
        v->bad = true;
        return 0;
    }
    return v->n_states++;
}

static void write_chunk(vcd *v, vcd_track *t)
{
    if (!t->n_full) {
        t->first = t->here = v->end;
        v->end += sizeof(chunk);
    }
    t->buffer->next = v->end;
    v->end += sizeof(chunk);
    v->bad |= pwrite(fileno(v->temp), t->buffer, sizeof(chunk),
                     (off_t)t->here) != (ssize_t)sizeof(chunk);
    t->here = t->buffer->next;
    t->n_full++;
    t->n = 0;
}

static void keep(vcd *v, vcd_track *t, const change *c)
{
    if (!t->buffer && !(t->buffer = calloc(1, sizeof *t->buffer))) {
        v->bad = true;
        return;
    }
    if (t->n == PER_CHUNK)
        write_chunk(v, t);
    t->buffer->c[t->n++] = *c;
}

static void note_change(vcd *v, vcd_track *t, uint64_t ns)
{
    change c = {.ns = ns};

    for (uint32_t k = 0; k < t->depth; k++)
        c.busy |= !t->open[k].idle;
    if (t->depth)
        c.state = t->open[t->depth - 1].state;
    if (ns != t->last.ns)
        keep(v, t, &t->last);
    t->last = c;
}

static void take_event(sink *s, const sink_event *e)
{
    vcd *v = s->state;
    vcd_track *t;

    if (v->bad || e->track->id > v->n_tracks)
        return;
    t = &v->tracks[e->track->id - 1];
    if (e->kind == SINK_BEGIN && t->depth < MAX_OPEN) {
        t->any = true;
        t->open[t->depth].state = state_of(v, e->base);
        t->open[t->depth++].idle = e->idle;
    } else if (e->kind == SINK_END && t->depth) {
        t->depth--;
    } else {
        return;
    }
    note_change(v, t, e->ns);
}

/* --- merging ------------------------------------------------------------- */

static bool load(vcd *v, vcd_track *t)
{
    uint64_t at = t->n_read ? t->read->next : t->first;

    t->at = 0;
    if (t->n_read == t->n_full) { /* the rest is in memory */
        free(t->read);
        t->read = NULL;
        t->n_at = t->n;
        return true;
    }
    t->n_read++;
    t->n_at = PER_CHUNK;
    return (t->read || (t->read = malloc(sizeof *t->read))) &&
           pread(fileno(v->temp), t->read, sizeof(chunk), (off_t)at) ==
               (ssize_t)sizeof(chunk);
}

static const change *peek(const vcd_track *t)
{
    return t->at == t->n_at ? NULL : &(t->read ? t->read : t->buffer)->c[t->at];
}

/* The next change. False: it cannot be read. */
static bool step(vcd *v, vcd_track *t)
{
    bool in_file = t->read != NULL;

    t->at++;
    return t->at < t->n_at || !in_file || load(v, t);
}

/* Tracks by the time of their next change, the earliest first. */
typedef struct {
    vcd_track **t;
    uint32_t n;
} heap;

static bool before(const vcd_track *a, const vcd_track *b)
{
    uint64_t x = peek(a)->ns, y = peek(b)->ns;

    return x != y ? x < y : a < b;
}

static void sift(heap *h, uint32_t i)
{
    for (;;) {
        uint32_t child = 2 * i + 1;
        vcd_track *t = h->t[i];

        if (child >= h->n)
            return;
        if (child + 1 < h->n && before(h->t[child + 1], h->t[child]))
            child++;
        if (before(t, h->t[child]))
            return;
        h->t[i] = h->t[child];
        h->t[child] = t;
        i = child;
    }
}

/* --- text ---------------------------------------------------------------- */

/* Signals have numbers: 2 * track for busy, one more for state. */
static void put_id(FILE *f, uint32_t n)
{
    do
        putc('!' + (int)(n % 94), f);
    while (n /= 94);
}

static void put_name(FILE *f, const char *name)
{
    for (; *name; name++)
        putc(*name > ' ' && *name < 127 ? *name : '_', f);
}

static uint32_t width(const vcd *v)
{
    uint32_t bits = 1;

    while (v->n_states > 1u << bits)
        bits++;
    return bits;
}

static void put_state(FILE *f, uint32_t state, uint32_t bits)
{
    putc('b', f);
    while (bits--)
        putc(state >> bits & 1 ? '1' : '0', f);
    putc(' ', f);
}

static void write_head(FILE *f, const vcd *v)
{
    uint32_t bits = width(v);
    trc_track scope = 0;

    fputs("$version vpusim $end\n$timescale 1 ns $end\n$comment states:", f);
    for (uint32_t k = 1; k < v->n_states; k++) {
        fprintf(f, " %u=", k);
        put_name(f, v->states[k]);
    }
    fputs(" $end\n", f);
    for (uint32_t i = 0; i < v->n_tracks; i++) {
        const vcd_track *t = &v->tracks[i];

        if (!t->any)
            continue;
        if (t->parent != scope) {
            fputs(scope ? "$upscope $end\n" : "", f);
            fputs("$scope module ", f);
            put_name(f, v->tracks[t->parent - 1].name);
            fputs(" $end\n", f);
            scope = t->parent;
        }
        fputs("$scope module ", f);
        put_name(f, t->name);
        fputs(" $end\n$var wire 1 ", f);
        put_id(f, 2 * i);
        fprintf(f, " busy $end\n$var reg %u ", bits);
        put_id(f, 2 * i + 1);
        fprintf(f, " state [%u:0] $end\n$upscope $end\n", bits - 1);
    }
    fputs(scope ? "$upscope $end\n" : "", f);
    fputs("$enddefinitions $end\n#0\n$dumpvars\n", f);
    for (uint32_t i = 0; i < v->n_tracks; i++) {
        if (!v->tracks[i].any)
            continue;
        putc('0', f);
        put_id(f, 2 * i);
        putc('\n', f);
        put_state(f, 0, bits);
        put_id(f, 2 * i + 1);
        putc('\n', f);
    }
    fputs("$end\n", f);
}

/* Writes what differs from what was written last, and *now in front of it. */
static void write_change(FILE *f, const vcd *v, vcd_track *t, uint32_t bits,
                         uint64_t *now)
{
    const change *c = peek(t), *old = &t->written;
    uint32_t i = (uint32_t)(t - v->tracks);

    if (c->busy == old->busy && c->state == old->state)
        return;
    if (c->ns != *now)
        fprintf(f, "#%" PRIu64 "\n", c->ns);
    *now = c->ns;
    if (c->busy != old->busy) {
        putc(c->busy ? '1' : '0', f);
        put_id(f, 2 * i);
        putc('\n', f);
    }
    if (c->state != old->state) {
        put_state(f, c->state, bits);
        put_id(f, 2 * i + 1);
        putc('\n', f);
    }
    t->written = *c;
}

static bool begin_merge(vcd *v, heap *h)
{
    for (uint32_t i = 0; i < v->n_tracks; i++) {
        vcd_track *t = &v->tracks[i];

        if (!t->any)
            continue;
        keep(v, t, &t->last);
        if (v->bad || !load(v, t))
            return false;
        h->t[h->n++] = t;
    }
    for (uint32_t i = h->n / 2; i--;)
        sift(h, i);
    return true;
}

static bool merge(FILE *f, vcd *v, heap *h)
{
    uint32_t bits = width(v);
    uint64_t now = 0;

    if (!begin_merge(v, h))
        return false;
    while (h->n) {
        vcd_track *t = h->t[0];

        write_change(f, v, t, bits, &now);
        if (!step(v, t))
            return false;
        if (!peek(t))
            h->t[0] = h->t[--h->n];
        if (h->n)
            sift(h, 0);
    }
    return true;
}

static bool close_vcd(sink *s)
{
    vcd *v = s->state;
    heap h = {.t = calloc(v->n_tracks + 1, sizeof(vcd_track *))};
    bool ok = h.t && !v->bad;

    if (ok) {
        write_head(s->file, v);
        ok = merge(s->file, v, &h);
    }
    free(h.t);
    return ok;
}

const sink_ops sink_vcd = {open_vcd, add_track, take_event, close_vcd,
                           drop_vcd};
