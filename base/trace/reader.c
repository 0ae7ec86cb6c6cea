/* One packet at a time: frame it, walk its fields, resolve pooled names, call
 * back. Nothing is allocated per packet: texts go to a scratch buffer as large
 * as a packet may be. Field numbers are Perfetto's, as in perfetto.proto. */
#include "base/trace/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/trace/forms.h"
#include "base/trace/wire.h"

enum {
    MAX_PACKET = 256 << 10,
    WINDOW = 1 << 20, /* read at once; more than MAX_PACKET and its head */
    MAX_NAMES = 65536,
    MAX_NAME_BYTES = 4096,
    MAX_SEQUENCES = 1024
};

typedef struct {
    const char *text; /* NULL until used */
    uint32_t key;
} pooled_name;

typedef struct {
    pooled_name *names; /* by iid */
    uint32_t cap;
} name_pool;

enum { FIRST_CLOCK = 64, N_CLOCKS = 64 }; /* of a sequence's own */

/* A clock of a sequence: nanoseconds of the trace are value * multiplier +
 * offset. */
typedef struct {
    bool known, incremental;
    uint64_t value, multiplier, offset; /* modulo 2^64 */
} clock_state;

/* Pooled names and clocks belong to the sequence of packets they came in. */
typedef struct {
    uint32_t id;
    name_pool events, args;
    uint64_t default_track, default_clock;
    clock_state *clocks; /* N_CLOCKS of them; NULL: none */
} sequence;

typedef struct {
    const char *name; /* of the file */
    FILE *f;
    const trc_read_ops *ops;
    vpu_error *err;
    arena *a;
    sequence *seqs[MAX_SEQUENCES];
    uint32_t n_seqs;
    uint8_t *window;
    size_t n_window, at_window;
    trc_read_room own, *room;
    packet_form *forms; /* by a packet's length, PACKET_BYTES of them */
    uint32_t n_keys;
    uint64_t at; /* byte of the file, for messages */
    int why;     /* errno of a read that failed */
    bool stopped;
} reader;

static vpu_status malformed(reader *r, const char *what)
{
    return err_set(r->err, VPU_ERR_PARSE, "%s: byte %llu: %s", r->name,
                   (unsigned long long)r->at, what);
}

/* A terminated copy; every text takes two bytes of the packet besides its own,
 * so they all fit. */
static const char *text_of(reader *r, wire_span s)
{
    size_t n = (size_t)(s.end - s.at);
    char *to = r->room->text + r->room->n_text;

    memcpy(to, s.at, n);
    to[n] = 0;
    r->room->n_text += n + 1;
    return to;
}

/* --- names --------------------------------------------------------------- */

static sequence *search_sequence(reader *r, uint32_t id)
{
    uint32_t i = 0;
    sequence *s;

    while (i < r->n_seqs && r->seqs[i]->id != id)
        i++;
    if (i == r->n_seqs) {
        if (r->n_seqs == MAX_SEQUENCES)
            return NULL;
        r->seqs[r->n_seqs++] = arena_new(r->a, sequence);
        r->seqs[i]->id = id;
    }
    s = r->seqs[i];
    if (i) {
        r->seqs[i] = r->seqs[i - 1];
        r->seqs[i - 1] = s;
    }
    return s;
}

static inline sequence *find_sequence(reader *r, uint32_t id)
{
    /* They come in runs. */
    return r->n_seqs && r->seqs[0]->id == id ? r->seqs[0]
                                             : search_sequence(r, id);
}

static void pool_reserve(reader *r, name_pool *p, uint32_t iid)
{
    uint32_t cap = p->cap ? p->cap : 64;
    pooled_name *names;

    if (iid < p->cap)
        return;
    while (cap <= iid)
        cap *= 2;
    names = arena_array(r->a, pooled_name, cap);
    if (p->cap)
        memcpy(names, p->names, p->cap * sizeof *names);
    p->names = names;
    p->cap = cap;
}

static vpu_status learn_name(reader *r, name_pool *p, wire_span s)
{
    wire_span name = {0};
    pooled_name *known;
    uint64_t iid = 0;
    wire_field f;
    bool bad = false;

    while (wire_next(&s, &f, &bad)) {
        if (f.number == 1 && f.type == 0)
            iid = f.value;
        else if (f.number == 2 && f.type == 2)
            name = f.bytes;
    }
    if (bad)
        return malformed(r, "not a trace packet");
    if (!name.at)
        return VPU_OK;
    if (iid >= MAX_NAMES || name.end - name.at > MAX_NAME_BYTES)
        return err_set(r->err, VPU_ERR_LIMIT,
                       "%s: byte %llu: pooled name %llu is out of bounds",
                       r->name, (unsigned long long)r->at,
                       (unsigned long long)iid);
    pool_reserve(r, p, (uint32_t)iid);
    known = &p->names[iid];
    /* Repeating an entry is legal when it says the same. */
    if (!known->text)
        *known = (pooled_name){arena_strndup(r->a, (const char *)name.at,
                                             (size_t)(name.end - name.at)),
                               ++r->n_keys};
    else if (strlen(known->text) != (size_t)(name.end - name.at) ||
             memcmp(known->text, name.at, (size_t)(name.end - name.at)))
        return malformed(r, "a pooled name is given twice");
    return VPU_OK;
}

static vpu_status learn(reader *r, sequence *q, wire_span s)
{
    vpu_status st = VPU_OK;
    wire_field f;
    bool bad = false;

    while (!st && wire_next(&s, &f, &bad)) {
        if (f.type != 2)
            continue;
        if (f.number == 2)
            st = learn_name(r, &q->events, f.bytes);
        else if (f.number == 3)
            st = learn_name(r, &q->args, f.bytes);
    }
    return !st && bad ? malformed(r, "not a trace packet") : st;
}

static const char *pooled(const name_pool *p, uint64_t iid, uint32_t *key)
{
    *key = 0;
    if (iid >= p->cap || !p->names[iid].text)
        return "";
    *key = p->names[iid].key;
    return p->names[iid].text;
}

/* --- packets ------------------------------------------------------------- */

/* The text in field `number` of a message, NULL without. */
static const char *text_in(reader *r, wire_span s, uint32_t number)
{
    const char *text = NULL;
    wire_field f;
    bool bad = false;

    while (wire_next(&s, &f, &bad))
        if (f.number == number && f.type == 2 && !text)
            text = text_of(r, f.bytes);
    return text;
}

static trc_unit unit_in(wire_span s)
{
    trc_unit unit = TRC_UNIT_NONE;
    wire_field f;
    bool bad = false;

    while (wire_next(&s, &f, &bad))
        if (f.number == 3 && f.type == 0)
            unit = f.value == 3   ? TRC_UNIT_BYTES
                   : f.value == 2 ? TRC_UNIT_COUNT
                                  : TRC_UNIT_NONE;
    return unit;
}

static vpu_status read_track(reader *r, wire_span s)
{
    trc_read_track t = {.name = NULL};
    const char *other = NULL;
    wire_field f;
    bool bad = false;

    while (wire_next(&s, &f, &bad)) {
        if (f.number == 1)
            t.uuid = f.value;
        else if (f.number == 5)
            t.parent_uuid = f.value;
        else if (f.type != 2)
            continue;
        else if (f.number == 2 || f.number == 10)
            t.name = text_of(r, f.bytes);
        else if (f.number == 3 && !other)
            other = text_in(r, f.bytes, 6);
        else if (f.number == 4 && !other)
            other = text_in(r, f.bytes, 5);
        else if (f.number == 8) {
            t.counter = true;
            t.unit = unit_in(f.bytes);
        }
    }
    if (bad)
        return malformed(r, "not a trace packet");
    if (!t.name)
        t.name = other ? other : "";
    if (r->ops->track && !r->ops->track(r->ops->user, &t))
        r->stopped = true;
    return VPU_OK;
}

static bool read_arg(reader *r, const sequence *q, wire_span s, trc_arg *a)
{
    uint64_t value;
    wire_field f;
    bool bad = false;

    *a = (trc_arg){.name = ""};
    if (wire_take(&s, 1, &value))
        a->name = pooled(&q->args, value, &a->key);
    if (wire_take(&s, 3, &value))
        a->number = value;
    while (wire_next(&s, &f, &bad)) {
        if (f.number == 1 && f.type == 0)
            a->name = pooled(&q->args, f.value, &a->key);
        else if (f.number == 10 && f.type == 2) {
            a->name = text_of(r, f.bytes);
            a->key = 0;
        } else if (f.number >= 2 && f.number <= 4 && f.type == 0) {
            a->kind = TRC_ARG_UINT;
            a->number = f.value;
        } else if (f.number == 5 && f.type == 1) {
            a->kind = TRC_ARG_REAL;
            a->real = wire_double(f.value);
        } else if (f.number == 6 && f.type == 2) {
            a->kind = TRC_ARG_TEXT;
            a->text = text_of(r, f.bytes);
        }
    }
    return !bad;
}

static void add_field(reader *r, const sequence *q, const wire_field *f,
                      trc_read_event *e)
{
    switch (f->number) {
    case 10:
        if (!e->name[0])
            e->name = pooled(&q->events, f->value, &e->name_key);
        break;
    case 11:
        e->uuid = f->value;
        break;
    case 23:
        if (f->type == 2) {
            e->name = text_of(r, f->bytes);
            e->name_key = 0;
        }
        break;
    case 30:
        e->value = (double)(int64_t)f->value;
        e->real = false;
        break;
    case 44:
        e->value = wire_double(f->value);
        e->real = true;
        break;
    case 36: /* as varints, before Perfetto had 47 and 48 */
    case 47:
        if (e->flow == TRC_FLOW_NONE && f->type != 2) {
            e->flow = TRC_FLOW_STEP;
            e->flow_id = f->value;
        }
        break;
    case 42:
    case 48:
        if (f->type != 2) {
            e->flow = TRC_FLOW_END;
            e->flow_id = f->value;
        }
        break;
    }
}

static const trc_read_kind kinds[] = {[1] = TRC_READ_BEGIN,
                                      [2] = TRC_READ_END,
                                      [3] = TRC_READ_INSTANT,
                                      [4] = TRC_READ_COUNT};

static void call_event(reader *r, const trc_read_event *e)
{
    if (r->ops->event && !r->ops->event(r->ops->user, e))
        r->stopped = true;
}

static vpu_status read_event(reader *r, const sequence *q, uint64_t ns,
                             wire_span s)
{
    trc_read_event *e = r->room->event;
    trc_arg *args = r->room->args;
    uint64_t type = 0, value;
    uint8_t n = 0;
    wire_span arg;
    wire_field f;
    bool bad = false;

    *e = (trc_read_event){
        .uuid = q->default_track, .ns = ns, .name = "", .args = args};
    while (wire_take_bytes(&s, 4, &arg)) {
        if (n < TRC_MAX_ARGS && !read_arg(r, q, arg, &args[n]))
            return malformed(r, "not a trace packet");
        n += n < TRC_MAX_ARGS;
    }
    wire_take(&s, 9, &type);
    if (wire_take(&s, 10, &value))
        e->name = pooled(&q->events, value, &e->name_key);
    wire_take(&s, 11, &e->uuid);
    while (wire_next(&s, &f, &bad)) {
        if (f.number == 9) {
            type = f.value;
        } else if (f.number == 4 && f.type == 2) {
            if (n < TRC_MAX_ARGS && !read_arg(r, q, f.bytes, &args[n]))
                return malformed(r, "not a trace packet");
            n += n < TRC_MAX_ARGS;
        } else {
            add_field(r, q, &f, e);
        }
    }
    if (bad)
        return malformed(r, "not a trace packet");
    if (type < 1 || type > 4)
        return VPU_OK;
    e->kind = kinds[type];
    e->n_args = n;
    call_event(r, e);
    return VPU_OK;
}

/* --- clocks -------------------------------------------------------------- */

/* ClockSnapshot.Clock; true: it is one of a sequence's own, then *id is it. */
static void read_clock(wire_span s, uint64_t *id, clock_state *c)
{
    wire_field f;
    bool bad = false;

    *id = 0;
    *c = (clock_state){.known = true, .multiplier = 1};
    while (wire_next(&s, &f, &bad)) {
        if (f.type != 0)
            continue;
        if (f.number == 1)
            *id = f.value;
        else if (f.number == 2)
            c->value = f.value;
        else if (f.number == 3)
            c->incremental = f.value;
        else if (f.number == 4 && f.value)
            c->multiplier = f.value;
    }
}

/* What all clocks said at one moment. The trace's own is BOOTTIME, or else the
 * first that is not a sequence's. */
static void read_snapshot(reader *r, sequence *q, wire_span s)
{
    enum { BOOTTIME = 6 };
    uint64_t now = 0, id;
    bool has_now = false, bad = false;
    wire_span again = s;
    clock_state c;
    wire_field f;

    while (wire_next(&s, &f, &bad)) {
        if (f.number != 1 || f.type != 2)
            continue;
        read_clock(f.bytes, &id, &c);
        if (id && id < FIRST_CLOCK && (!has_now || id == BOOTTIME)) {
            now = c.value * c.multiplier;
            has_now = true;
        }
    }
    while (wire_next(&again, &f, &bad)) {
        if (f.number != 1 || f.type != 2)
            continue;
        read_clock(f.bytes, &id, &c);
        if (id < FIRST_CLOCK || id >= FIRST_CLOCK + N_CLOCKS)
            continue;
        if (!q->clocks)
            q->clocks = arena_array(r->a, clock_state, N_CLOCKS);
        c.offset = has_now ? now - c.value * c.multiplier : 0;
        q->clocks[id - FIRST_CLOCK] = c;
    }
}

/* A packet's time stamp in nanoseconds; clock 0 = the sequence's default. */
static uint64_t ns_of(sequence *q, uint64_t clock, uint64_t stamp)
{
    clock_state *c;

    clock = clock ? clock : q->default_clock;
    if (clock < FIRST_CLOCK || clock >= FIRST_CLOCK + N_CLOCKS || !q->clocks)
        return stamp;
    c = &q->clocks[clock - FIRST_CLOCK];
    if (!c->known)
        return stamp;
    c->value = c->incremental ? c->value + stamp : stamp;
    return c->value * c->multiplier + c->offset;
}

/* TracePacketDefaults: timestamp_clock_id, track_event_defaults.track_uuid */
static void read_defaults(sequence *q, wire_span s)
{
    wire_field f, g;
    bool bad = false;

    while (wire_next(&s, &f, &bad)) {
        if (f.number == 58 && f.type == 0)
            q->default_clock = f.value;
        if (f.number != 11 || f.type != 2)
            continue;
        while (wire_next(&f.bytes, &g, &bad))
            if (g.number == 11 && g.type == 0)
                q->default_track = g.value;
    }
}

static vpu_status read_packet(reader *r, const uint8_t *bytes, size_t n)
{
    wire_span s = {bytes, bytes + n}, track = {0}, event = {0}, pool = {0},
              defaults = {0}, snapshot = {0};
    uint64_t stamp = 0, clock = 0, seq = 0, flags = 0, ns;
    bool stamped;
    vpu_status st = VPU_OK;
    wire_field f;
    sequence *q;
    bool bad = false;

    r->room->n_text = 0;
    stamped = wire_take(&s, 8, &stamp);
    wire_take(&s, 10, &seq);
    wire_take_bytes(&s, 11, &event);
    wire_take_bytes(&s, 12, &pool);
    wire_take(&s, 13, &flags);
    while (wire_next(&s, &f, &bad)) {
        if (f.number == 8) {
            stamp = f.value;
            stamped = true;
        } else if (f.number == 58 && f.type == 0)
            clock = f.value;
        else if (f.type == 2 && f.number == 6)
            snapshot = f.bytes;
        else if (f.number == 10)
            seq = f.value;
        else if (f.number == 13)
            flags = f.value;
        else if (f.type == 2 && f.number == 11)
            event = f.bytes;
        else if (f.type == 2 && f.number == 12)
            pool = f.bytes;
        else if (f.type == 2 && f.number == 59)
            defaults = f.bytes;
        else if (f.type == 2 && f.number == 60)
            track = f.bytes;
    }
    if (bad)
        return malformed(r, "not a trace packet");
    if (!(q = find_sequence(r, (uint32_t)seq)))
        return err_set(r->err, VPU_ERR_LIMIT,
                       "%s: byte %llu: more than %d packet sequences", r->name,
                       (unsigned long long)r->at, MAX_SEQUENCES);
    if (flags & 1) /* the sequence's state is cleared */
        *q = (sequence){.id = q->id};
    if (defaults.at)
        read_defaults(q, defaults);
    if (snapshot.at)
        read_snapshot(r, q, snapshot);
    ns = stamped ? ns_of(q, clock, stamp) : 0;
    if (pool.at)
        st = learn(r, q, pool);
    if (!st && track.at)
        st = read_track(r, track);
    if (!st && event.at && !r->stopped)
        st = read_event(r, q, ns, event);
    return st;
}

/* --- packets of a known form --------------------------------------------- */

static wire_span bytes_at(const uint8_t *packet, packet_place p)
{
    return (wire_span){packet + p.at, packet + p.at + p.n};
}

WIRE_INLINE uint64_t number_at(const uint8_t *packet, packet_place p)
{
    return packet_number(packet + p.at, p.n);
}

static void arg_at(reader *r, const sequence *q, const packet_arg *f,
                   const uint8_t *packet, trc_arg *a)
{
    wire_span value = bytes_at(packet, f->value);
    uint64_t fixed = 0;

    *a = (trc_arg){.kind = f->kind};
    a->name = pooled(&q->args, f->name, &a->key);
    if (f->kind == TRC_ARG_UINT) {
        a->number = number_at(packet, f->value);
    } else if (f->kind == TRC_ARG_TEXT) {
        a->text = text_of(r, value);
    } else {
        wire_fixed(&value, 8, &fixed);
        a->real = wire_double(fixed);
    }
}

/* As read_packet and read_event of a packet that has the form. */
static void read_form(reader *r, const packet_form *f, const uint8_t *packet)
{
    sequence *q = find_sequence(r, f->sequence);
    trc_read_event *e = r->room->event;

    r->room->n_text = 0;
    *e = (trc_read_event){.uuid = f->uuid.n ? number_at(packet, f->uuid)
                                            : q->default_track,
                          .ns = ns_of(q, f->clock, number_at(packet, f->stamp)),
                          .name = "",
                          .args = r->room->args,
                          .kind = kinds[f->type],
                          .n_args = f->n_args};
    if (f->name.n)
        e->name = pooled(&q->events, number_at(packet, f->name), &e->name_key);
    else if (f->text.n)
        e->name = text_of(r, bytes_at(packet, f->text));
    for (unsigned i = 0; i < f->n_args; i++)
        arg_at(r, q, &f->args[i], packet, &r->room->args[i]);
    call_event(r, e);
}

/* Of the next packet, its head and length included, while it has been as
 * others; NULL: it must be read field by field. */
static packet_form *form_of(const reader *r, const uint8_t *p, size_t left)
{
    packet_form *f;

    if (left < PACKET_BYTES + 8 || p[1] >= PACKET_BYTES)
        return NULL;
    f = &r->forms[p[1]];
    return packet_has_form(f, p) ? f : NULL;
}

/* A packet was read that had no known form. Where it can have none, the next of
 * its length are not asked. */
static void learn_form(reader *r, const uint8_t *p, size_t n)
{
    enum { NOT_ASKED = 64 };
    packet_form *f = p[1] < PACKET_BYTES ? &r->forms[p[1]] : NULL;

    if (f && n == p[1] + 2u && !(f->credit && f->credit--) &&
        !packet_learn_form(f, p, n))
        f->credit = NOT_ASKED;
}

/* --- framing ------------------------------------------------------------- */

/* At least n bytes ahead in the window, fewer at the end of the file. */
static size_t refill(reader *r, size_t left)
{
    memmove(r->window, r->window + r->at_window, left);
    r->at_window = 0;
    errno = 0;
    r->n_window = left + fread(r->window + left, 1, WINDOW - left, r->f);
    if (ferror(r->f) && !r->why)
        r->why = errno;
    return r->n_window;
}

static inline size_t ahead(reader *r, size_t n)
{
    size_t left = r->n_window - r->at_window;

    return left >= n ? left : refill(r, left);
}

static vpu_status next_packet(reader *r)
{
    size_t left = ahead(r, PACKET_BYTES + 8);
    const uint8_t *p = r->window + r->at_window;
    wire_span s = {p + 1, p + (left < 6 ? left : 6)};
    packet_form *f = form_of(r, p, left);
    vpu_status st;
    uint64_t n;
    size_t head;

    if (f) {
        enum { MOST = 8 };

        f->credit += f->credit < MOST;
        r->at_window += f->n_bytes;
        r->at += f->n_bytes;
        read_form(r, f, p);
        return VPU_OK;
    }
    r->at++;
    if (p[0] != (1 << 3 | 2))
        return malformed(r, "not a trace packet's tag");
    if (!wire_varint(&s, &n))
        return malformed(r, "a packet's length is cut off or too long");
    head = (size_t)(s.at - p);
    r->at += head - 1;
    if (n > MAX_PACKET)
        return err_set(r->err, VPU_ERR_LIMIT,
                       "%s: byte %llu: a packet of %llu bytes", r->name,
                       (unsigned long long)r->at, (unsigned long long)n);
    if (ahead(r, head + n) < head + n)
        return ferror(r->f) ? err_set(r->err, VPU_ERR_IO, "%s: %s", r->name,
                                      strerror(r->why))
                            : malformed(r, "the last packet is cut off");
    r->at_window += head;
    p = r->window + r->at_window;
    r->at_window += n;
    r->at += n;
    st = read_packet(r, p, n);
    if (!st)
        learn_form(r, p - head, head + n);
    return st;
}

static vpu_status read_stream(const char *name, FILE *f,
                              const trc_read_ops *ops, vpu_error *err)
{
    reader r = {.name = name, .f = f, .ops = ops, .err = err};
    trc_read_event event;
    trc_arg args[TRC_MAX_ARGS];
    vpu_status st = VPU_OK;

    r.a = arena_create(0);
    r.window = malloc(WINDOW);
    r.forms = calloc(PACKET_BYTES, sizeof *r.forms);
    r.own = (trc_read_room){
        .event = &event, .args = args, .text = malloc(TRC_READ_TEXT)};
    r.room = ops->room ? ops->room : &r.own;
    if (!r.window || !r.forms || !r.own.text)
        st = err_set(err, VPU_ERR_NOMEM, "%s: out of memory", name);
    while (!st && !r.stopped && ahead(&r, 1))
        st = next_packet(&r);
    if (!st && ferror(f))
        st = err_set(err, VPU_ERR_IO, "%s: %s", name, strerror(r.why));
    if (ops->end)
        ops->end(ops->user);
    free(r.window);
    free(r.forms);
    free(r.own.text);
    arena_destroy(r.a);
    fclose(f);
    return st;
}

vpu_status trc_read_file(const char *path, const trc_read_ops *ops,
                         vpu_error *err)
{
    FILE *f;
    vpu_status st = file_stream_open(path, &f, err);

    return st ? st : read_stream(path, f, ops, err);
}

vpu_status trc_read_bytes(const char *name, const void *data, size_t n_bytes,
                          const trc_read_ops *ops, vpu_error *err)
{
    FILE *f;

    if (!n_bytes)
        return VPU_OK;
    /* Read mode: the bytes are not written to. */
    f = fmemopen((void *)data, n_bytes, "rb");
    if (!f)
        return err_set(err, VPU_ERR_NOMEM, "%s: %s", name, strerror(errno));
    return read_stream(name, f, ops, err);
}
