/* Perfetto's protobuf form: one TracePacket after the other, each a field 1 of
 * the outermost Trace message, so a file is written without knowing its end.
 *
 * All packets are of one sequence (1). Pooled names travel in the packet that
 * uses them first (InternedData), later packets give their number.
 *
 * Tracks are packed by protobuf-c. Events are millions, so their packets are
 * spelled out here, byte by byte as protobuf-c would: fields by their numbers,
 * ascending. */
#include <stdlib.h>
#include <string.h>

#include "base/trace/perfetto.pb-c.h"
#include "base/trace/sink.h"

enum { CLEARED = 1, NEEDS_STATE = 2 }; /* TracePacket.SequenceFlags */

/* A viewer may follow the file while it grows: at first it is written in small
 * pieces, later in parts of what is there, since large ones take the system
 * less time for each byte. */
enum { LEAST_PIECE = 16 << 10, MOST_PIECE = 256 << 10, PARTS = 32 };

typedef struct {
    uint8_t *bytes; /* for the file */
    size_t n, cap, piece;
    uint64_t written;
    bool failed;
} perfetto;

static void flush(sink *s)
{
    perfetto *o = s->state;

    fwrite(o->bytes, 1, o->n, s->file);
    o->written += o->n;
    o->n = 0;
    o->piece =
        o->written / PARTS < MOST_PIECE ? o->written / PARTS : MOST_PIECE;
    if (o->piece < LEAST_PIECE)
        o->piece = LEAST_PIECE;
}

/* Where the next packet goes, which has n bytes at most; NULL: no memory. */
static uint8_t *next_packet(sink *s, size_t n)
{
    perfetto *o = s->state;
    size_t want = o->cap ? o->cap : LEAST_PIECE;
    uint8_t *p;

    if (o->n + n > o->piece)
        flush(s);
    if (o->n + n <= o->cap)
        return o->bytes + o->n;
    while (want < o->n + n)
        want *= 2;
    if (!(p = realloc(o->bytes, want))) {
        o->failed = true;
        return NULL;
    }
    o->bytes = p;
    o->cap = want;
    return p + o->n;
}

static void end_packet(sink *s, const uint8_t *end)
{
    perfetto *o = s->state;

    o->n = (size_t)(end - o->bytes);
}

static inline uint8_t *put_varint(uint8_t *p, uint64_t n)
{
    for (; n > 127; n >>= 7)
        *p++ = (uint8_t)(n | 128);
    *p++ = (uint8_t)n;
    return p;
}

/* Tags of fields: the number and the wire form. */
enum { VARINT, FIXED64, BYTES };
#define TAG(number, form) ((number) << 3 | (form))

static inline uint8_t *put_number(uint8_t *p, uint32_t tag, uint64_t n)
{
    return put_varint(put_varint(p, tag), n);
}

/* What the length of a message takes beside it. */
enum { HEAD = 16 };

static void write_packet(sink *s, const Trc__Pb__TracePacket *packet)
{
    size_t n = trc__pb__trace_packet__get_packed_size(packet);
    uint8_t *p = next_packet(s, n + HEAD);

    if (!p)
        return;
    p = put_number(p, TAG(1, BYTES), n);
    end_packet(s, p + trc__pb__trace_packet__pack(packet, p));
}

static bool open_trace(sink *s)
{
    Trc__Pb__TracePacket p = TRC__PB__TRACE_PACKET__INIT;
    perfetto *o = calloc(1, sizeof *o);

    if (!(s->state = o))
        return false;
    o->piece = LEAST_PIECE;
    p.has_trusted_packet_sequence_id = true;
    p.trusted_packet_sequence_id = 1;
    p.has_sequence_flags = p.has_first_packet_on_sequence = true;
    p.sequence_flags = CLEARED;
    p.first_packet_on_sequence = true;
    p.has_previous_packet_dropped = true;
    p.previous_packet_dropped = 1;
    write_packet(s, &p);
    return true;
}

static void write_track(sink *s, const sink_track *t)
{
    Trc__Pb__TracePacket p = TRC__PB__TRACE_PACKET__INIT;
    Trc__Pb__TrackDescriptor d = TRC__PB__TRACK_DESCRIPTOR__INIT;
    Trc__Pb__ProcessDescriptor process = TRC__PB__PROCESS_DESCRIPTOR__INIT;
    Trc__Pb__CounterDescriptor counter = TRC__PB__COUNTER_DESCRIPTOR__INIT;

    p.has_trusted_packet_sequence_id = true;
    p.trusted_packet_sequence_id = 1;
    p.track_descriptor = &d;
    d.has_uuid = true;
    d.uuid = t->id;
    d.name = (char *)t->name;
    if (t->parent) {
        d.has_parent_uuid = true;
        d.parent_uuid = t->parent;
    } else if (t->kind == SINK_GROUP) {
        process.has_pid = true;
        process.pid = (int32_t)t->process;
        process.process_name = (char *)t->name;
        d.process = &process;
    }
    if (t->kind == SINK_COUNTER) {
        if (t->unit != TRC_UNIT_NONE) {
            counter.has_unit = true;
            counter.unit = t->unit == TRC_UNIT_BYTES
                               ? TRC__PB__COUNTER_DESCRIPTOR__UNIT__SIZE_BYTES
                               : TRC__PB__COUNTER_DESCRIPTOR__UNIT__COUNT;
        }
        d.counter = &counter;
    }
    write_packet(s, &p);
}

/* --- events -------------------------------------------------------------- */

static uint8_t *put_bytes(uint8_t *p, uint32_t tag, const void *bytes, size_t n)
{
    p = put_number(p, tag, n);
    memcpy(p, bytes, n);
    return p + n;
}

static uint8_t *put_text(uint8_t *p, uint32_t tag, const char *text)
{
    return put_bytes(p, tag, text, strlen(text));
}

static inline uint8_t *put_fixed(uint8_t *p, uint32_t tag, uint64_t n)
{
    p = put_varint(p, tag);
    for (int i = 0; i < 8; i++)
        *p++ = (uint8_t)(n >> 8 * i);
    return p;
}

static uint8_t *put_double(uint8_t *p, uint32_t tag, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return put_fixed(p, tag, bits);
}

/* A message's length stands before it, and most have one byte of length: a
 * message is written behind room for that, and moved if it has more. */
enum { ROOM = 2 };

static inline uint8_t *close_message(uint8_t *at, uint8_t tag, uint8_t *end)
{
    size_t n = (size_t)(end - (at + ROOM)), more = 0;

    at[0] = tag;
    at[1] = (uint8_t)n;
    if (n < 128)
        return end;
    for (size_t left = n >> 7; left; left >>= 7)
        more++;
    memmove(at + ROOM + more, at + ROOM, n);
    put_varint(at + 1, n);
    return end + more;
}

/* DebugAnnotation */
static uint8_t *put_arg(uint8_t *at, const trc_arg *a, uint32_t iid)
{
    uint8_t *p = at + ROOM;

    if (iid)
        p = put_number(p, TAG(1, VARINT), iid);
    if (a->kind == TRC_ARG_UINT)
        p = put_number(p, TAG(3, VARINT), a->number);
    else if (a->kind == TRC_ARG_REAL)
        p = put_double(p, TAG(5, FIXED64), a->real);
    else if (a->text)
        p = put_text(p, TAG(6, BYTES), a->text);
    if (!iid && a->name)
        p = put_text(p, TAG(10, BYTES), a->name);
    return close_message(at, TAG(4, BYTES), p);
}

/* TrackEvent */
static uint8_t *put_event(uint8_t *p, const sink_event *e)
{
    static const uint8_t types[] = {
        [SINK_BEGIN] = TRC__PB__TRACK_EVENT__TYPE__SLICE_BEGIN,
        [SINK_END] = TRC__PB__TRACK_EVENT__TYPE__SLICE_END,
        [SINK_INSTANT] = TRC__PB__TRACK_EVENT__TYPE__INSTANT,
        [SINK_COUNT] = TRC__PB__TRACK_EVENT__TYPE__COUNTER,
    };

    for (size_t i = 0; i < e->n_args; i++)
        p = put_arg(p, &e->args[i], e->arg_iids[i]);
    p = put_number(p, TAG(9, VARINT), types[e->kind]);
    if (e->name_iid)
        p = put_number(p, TAG(10, VARINT), e->name_iid);
    p = put_number(p, TAG(11, VARINT), e->track->id);
    if (!e->name_iid && e->name)
        p = put_text(p, TAG(23, BYTES), e->name);
    if (e->kind == SINK_COUNT && !e->real)
        p = put_number(p, TAG(30, VARINT), (uint64_t)e->value);
    if (e->kind == SINK_COUNT && e->real)
        p = put_double(p, TAG(44, FIXED64), e->real_value);
    if (e->flow == TRC_FLOW_END)
        p = put_fixed(p, TAG(48, FIXED64), e->flow_id);
    else if (e->flow != TRC_FLOW_NONE)
        p = put_fixed(p, TAG(47, FIXED64), e->flow_id);
    return p;
}

/* InternedName */
static uint8_t *put_name(uint8_t *at, uint8_t tag, uint32_t iid,
                         const char *name)
{
    uint8_t *p = put_number(at + ROOM, TAG(1, VARINT), iid);

    return close_message(at, tag, put_text(p, TAG(2, BYTES), name));
}

/* InternedData, where an event brings names */
static uint8_t *put_pool(uint8_t *at, const sink_event *e)
{
    uint8_t *p = at + ROOM;

    if (!e->name_new && !e->arg_new)
        return at;
    if (e->name_new)
        p = put_name(p, TAG(2, BYTES), e->name_iid, e->name);
    for (size_t i = 0; i < e->n_args; i++)
        if (e->arg_new >> i & 1)
            p = put_name(p, TAG(3, BYTES), e->arg_iids[i], e->args[i].name);
    return close_message(at, TAG(12, BYTES), p);
}

/* No packet of it is longer. */
static size_t most_bytes(const sink_event *e)
{
    size_t n = 256;

    if (e->name && (!e->name_iid || e->name_new))
        n += strlen(e->name);

    for (size_t i = 0; i < e->n_args; i++) {
        const trc_arg *a = &e->args[i];

        n += 128;
        if (!e->arg_iids[i] || e->arg_new >> i & 1)
            n += strlen(a->name);
        if (a->kind == TRC_ARG_TEXT && a->text)
            n += strlen(a->text);
    }
    return n;
}

static void write_event(sink *s, const sink_event *e)
{
    uint8_t *packet = next_packet(s, most_bytes(e)), *event, *p;

    if (!packet)
        return;
    p = put_number(packet + ROOM, TAG(8, VARINT), e->ns);
    event = put_number(p, TAG(10, VARINT), 1);
    p = close_message(event, TAG(11, BYTES), put_event(event + ROOM, e));
    p = put_pool(p, e);
    p = put_number(p, TAG(13, VARINT), NEEDS_STATE);
    end_packet(s, close_message(packet, TAG(1, BYTES), p));
}

static bool close_trace(sink *s)
{
    flush(s); /* a Trace message has no end mark */
    return !((perfetto *)s->state)->failed;
}

static void drop_trace(sink *s)
{
    perfetto *o = s->state;

    if (!o)
        return;
    free(o->bytes);
    free(o);
}

const sink_ops sink_perfetto = {open_trace, write_track, write_event,
                                close_trace, drop_trace};
