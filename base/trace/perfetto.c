/* Perfetto's protobuf form: one TracePacket after the other, each a field 1 of
 * the outermost Trace message, so a file is written without knowing its end.
 *
 * All packets are of one sequence (1). Pooled names travel in the packet that
 * uses them first (InternedData), later packets give their number. */
#include <stdlib.h>
#include <string.h>

#include "base/trace/perfetto.pb-c.h"
#include "base/trace/sink.h"

enum { CLEARED = 1, NEEDS_STATE = 2 }; /* TracePacket.SequenceFlags */

static void write_varint(FILE *f, uint64_t n)
{
    for (; n > 127; n >>= 7)
        putc((int)(n & 127) | 128, f);
    putc((int)n, f);
}

static void write_packet(FILE *f, const Trc__Pb__TracePacket *p)
{
    uint8_t small[2048], *bytes = small;
    size_t n = trc__pb__trace_packet__get_packed_size(p);

    if (n > sizeof small && !(bytes = malloc(n)))
        return; /* the stream's error flag cannot be set from here */
    trc__pb__trace_packet__pack(p, bytes);
    putc(1 << 3 | 2, f);
    write_varint(f, n);
    fwrite(bytes, 1, n, f);
    if (bytes != small)
        free(bytes);
}

static bool open_trace(sink *s)
{
    Trc__Pb__TracePacket p = TRC__PB__TRACE_PACKET__INIT;

    p.has_trusted_packet_sequence_id = true;
    p.trusted_packet_sequence_id = 1;
    p.has_sequence_flags = p.has_first_packet_on_sequence = true;
    p.sequence_flags = CLEARED;
    p.first_packet_on_sequence = true;
    p.has_previous_packet_dropped = true;
    p.previous_packet_dropped = 1;
    write_packet(s->file, &p);
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
    write_packet(s->file, &p);
}

/* The arguments of an event and what they add to the pool. */
typedef struct {
    Trc__Pb__DebugAnnotation args[TRC_MAX_ARGS], *arg_list[TRC_MAX_ARGS];
    Trc__Pb__InternedName fresh[TRC_MAX_ARGS], *fresh_list[TRC_MAX_ARGS];
} arg_space;

static void fill_arg(Trc__Pb__DebugAnnotation *d, const trc_arg *a,
                     uint32_t iid)
{
    trc__pb__debug_annotation__init(d);
    if (iid) {
        d->has_name_iid = true;
        d->name_iid = iid;
    } else {
        d->name = (char *)a->name;
    }
    if (a->kind == TRC_ARG_UINT) {
        d->has_uint_value = true;
        d->uint_value = a->number;
    } else if (a->kind == TRC_ARG_REAL) {
        d->has_double_value = true;
        d->double_value = a->real;
    } else {
        d->string_value = (char *)a->text;
    }
}

static void fill_args(Trc__Pb__TrackEvent *t, Trc__Pb__InternedData *pool,
                      arg_space *s, const sink_event *e)
{
    for (size_t i = 0; i < e->n_args; i++) {
        fill_arg(&s->args[i], &e->args[i], e->arg_iids[i]);
        s->arg_list[i] = &s->args[i];
        if (e->arg_new >> i & 1) {
            Trc__Pb__InternedName *n =
                &s->fresh[pool->n_debug_annotation_names];

            trc__pb__interned_name__init(n);
            n->has_iid = true;
            n->iid = e->arg_iids[i];
            n->name = (char *)e->args[i].name;
            s->fresh_list[pool->n_debug_annotation_names++] = n;
        }
    }
    t->n_debug_annotations = e->n_args;
    t->debug_annotations = s->arg_list;
    pool->debug_annotation_names = s->fresh_list;
}

static void write_event(sink *s, const sink_event *e)
{
    static const Trc__Pb__TrackEvent__Type types[] = {
        [SINK_BEGIN] = TRC__PB__TRACK_EVENT__TYPE__SLICE_BEGIN,
        [SINK_END] = TRC__PB__TRACK_EVENT__TYPE__SLICE_END,
        [SINK_INSTANT] = TRC__PB__TRACK_EVENT__TYPE__INSTANT,
        [SINK_COUNT] = TRC__PB__TRACK_EVENT__TYPE__COUNTER,
    };
    Trc__Pb__TracePacket p = TRC__PB__TRACE_PACKET__INIT;
    Trc__Pb__TrackEvent t = TRC__PB__TRACK_EVENT__INIT;
    Trc__Pb__InternedData pool = TRC__PB__INTERNED_DATA__INIT;
    Trc__Pb__InternedName name = TRC__PB__INTERNED_NAME__INIT,
                          *names[] = {&name};
    uint64_t flow = e->flow_id;
    arg_space space;

    p.has_timestamp = p.has_trusted_packet_sequence_id = true;
    p.timestamp = e->ns;
    p.trusted_packet_sequence_id = 1;
    p.has_sequence_flags = true;
    p.sequence_flags = NEEDS_STATE;
    p.track_event = &t;
    t.has_type = t.has_track_uuid = true;
    t.type = types[e->kind];
    t.track_uuid = e->track->id;
    if (e->name_iid) {
        t.has_name_iid = true;
        t.name_iid = e->name_iid;
    } else {
        t.name = (char *)e->name;
    }
    if (e->name_new) {
        name.has_iid = true;
        name.iid = e->name_iid;
        name.name = (char *)e->name;
        pool.n_event_names = 1;
        pool.event_names = names;
    }
    fill_args(&t, &pool, &space, e);
    if (pool.n_event_names || pool.n_debug_annotation_names)
        p.interned_data = &pool;
    if (e->flow == TRC_FLOW_END) {
        t.n_terminating_flow_ids = 1;
        t.terminating_flow_ids = &flow;
    } else if (e->flow != TRC_FLOW_NONE) {
        t.n_flow_ids = 1;
        t.flow_ids = &flow;
    }
    if (e->kind == SINK_COUNT) {
        t.has_double_counter_value = e->real;
        t.double_counter_value = e->real_value;
        t.has_counter_value = !e->real;
        t.counter_value = e->value;
    }
    write_packet(s->file, &p);
}

static bool close_trace(sink *s)
{
    (void)s; /* a Trace message has no end mark */
    return true;
}

const sink_ops sink_perfetto = {open_trace, write_track, write_event,
                                close_trace, NULL};
