/* One packet at a time: frame it, unpack it, resolve pooled names, call back.
 *
 * The outermost framing is read by hand (field 1, length, bytes), everything
 * inside by protobuf-c, whose memory is bounded by the packet's size. */
#include "sim/trace/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/trace/perfetto.pb-c.h"

enum { MAX_PACKET = 256 << 10, MAX_NAMES = 65536, MAX_NAME_BYTES = 4096 };

typedef struct {
    const char **text; /* MAX_NAMES, by iid; NULL until used */

} name_pool;

typedef struct {
    const char *name; /* of the file */
    FILE *f;
    const trc_read_ops *ops;
    vpu_error *err;
    arena *a;
    name_pool events, args;
    uint64_t at;
    bool stopped;
} reader;

static vpu_status malformed(reader *r, const char *what)
{
    return err_set(r->err, VPU_ERR_PARSE, "%s: byte %llu: %s", r->name,
                   (unsigned long long)r->at, what);
}

/* --- names -------------------------------------------------------------- */

static vpu_status learn(reader *r, name_pool *p,
                        Trc__Pb__InternedName *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const Trc__Pb__InternedName *in = names[i];

        if (!in->name)
            continue;
        if (in->iid >= MAX_NAMES || strlen(in->name) > MAX_NAME_BYTES)
            return err_set(r->err, VPU_ERR_LIMIT,
                           "%s: byte %llu: pooled name %llu is out of bounds",
                           r->name, (unsigned long long)r->at,
                           (unsigned long long)in->iid);
        if (!p->text)
            p->text = arena_array(r->a, const char *, MAX_NAMES);
        /* Repeating an entry is legal when it says the same. */
        if (!p->text[in->iid])
            p->text[in->iid] = arena_strdup(r->a, in->name);
        else if (strcmp(p->text[in->iid], in->name))
            return malformed(r, "a pooled name is given twice");
    }
    return VPU_OK;
}

static const char *resolve(const name_pool *p, const char *spelled,
                           bool has_iid, uint64_t iid)
{
    if (spelled)
        return spelled;
    if (has_iid && p->text && iid < MAX_NAMES && p->text[iid])
        return p->text[iid];
    return "";
}

/* --- packets ------------------------------------------------------------ */

static void tell_track(reader *r, const Trc__Pb__TrackDescriptor *d)
{
    trc_read_track t = {.uuid = d->uuid,
                        .parent_uuid = d->parent_uuid,
                        .name = d->name ? d->name : "",
                        .counter = d->counter};

    if (r->ops->track && !r->ops->track(r->ops->user, &t))
        r->stopped = true;
}

static trc_arg read_arg(const reader *r, const Trc__Pb__DebugAnnotation *d)
{
    const char *name = resolve(&r->args, d->name, d->has_name_iid, d->name_iid);

    if (d->string_value)
        return TRC_TEXT(name, d->string_value);
    if (d->has_double_value)
        return TRC_REAL(name, d->double_value);
    return TRC_UINT(name,
                    d->has_int_value ? (uint64_t)d->int_value : d->uint_value);
}

static void tell_event(reader *r, const Trc__Pb__TracePacket *p)
{
    const Trc__Pb__TrackEvent *t = p->track_event;
    trc_read_event e = {.uuid = t->track_uuid, .ns = p->timestamp};
    trc_arg args[TRC_MAX_ARGS];

    switch (t->type) {
    case TRC__PB__TRACK_EVENT__TYPE__SLICE_BEGIN:
        e.kind = TRC_READ_BEGIN;
        break;
    case TRC__PB__TRACK_EVENT__TYPE__SLICE_END:
        e.kind = TRC_READ_END;
        break;
    case TRC__PB__TRACK_EVENT__TYPE__INSTANT:
        e.kind = TRC_READ_INSTANT;
        break;
    case TRC__PB__TRACK_EVENT__TYPE__COUNTER:
        e.kind = TRC_READ_COUNT;
        break;
    default:
        return;
    }
    e.name = resolve(&r->events, t->name, t->has_name_iid, t->name_iid);
    for (size_t i = 0; i < t->n_debug_annotations && i < TRC_MAX_ARGS; i++)
        args[e.n_args++] = read_arg(r, t->debug_annotations[i]);
    e.args = args;
    if (t->n_terminating_flow_ids) {
        e.flow = TRC_FLOW_END;
        e.flow_id = t->terminating_flow_ids[0];
    } else if (t->n_flow_ids) {
        e.flow = TRC_FLOW_STEP;
        e.flow_id = t->flow_ids[0];
    }
    e.value = t->has_double_counter_value ? t->double_counter_value
                                          : (double)t->counter_value;
    if (r->ops->event && !r->ops->event(r->ops->user, &e))
        r->stopped = true;
}

static vpu_status read_packet(reader *r, const uint8_t *bytes, size_t n)
{
    Trc__Pb__TracePacket *p = trc__pb__trace_packet__unpack(NULL, n, bytes);
    vpu_status st = VPU_OK;

    if (!p)
        return malformed(r, "not a trace packet");
    if (p->interned_data) {
        const Trc__Pb__InternedData *in = p->interned_data;

        st = learn(r, &r->events, in->event_names, in->n_event_names);
        if (!st)
            st = learn(r, &r->args, in->debug_annotation_names,
                       in->n_debug_annotation_names);
    }
    if (!st && p->track_descriptor)
        tell_track(r, p->track_descriptor);
    if (!st && p->track_event && !r->stopped)
        tell_event(r, p);
    trc__pb__trace_packet__free_unpacked(p, NULL);
    return st;
}

/* --- framing ------------------------------------------------------------ */

static bool read_length(reader *r, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        int c = getc(r->f);

        if (c == EOF)
            return false;
        r->at++;
        *out |= (uint64_t)(c & 127) << shift;
        if (c < 128)
            return true;
    }
    return false;
}

static vpu_status read_all(reader *r)
{
    uint8_t *bytes = malloc(MAX_PACKET);
    vpu_status st = VPU_OK;
    uint64_t n = 0;
    int tag;

    if (!bytes)
        return err_set(r->err, VPU_ERR_NOMEM, "%s: out of memory", r->name);
    while (!st && !r->stopped && (tag = getc(r->f)) != EOF) {
        r->at++;
        if (tag != (1 << 3 | 2))
            st = malformed(r, "not a trace packet's tag");
        else if (!read_length(r, &n))
            st = malformed(r, "a packet's length is cut off or too long");
        else if (n > MAX_PACKET)
            st = err_set(r->err, VPU_ERR_LIMIT,
                         "%s: byte %llu: a packet of %llu bytes", r->name,
                         (unsigned long long)r->at, (unsigned long long)n);
        else if (fread(bytes, 1, n, r->f) != n)
            st = malformed(r, "the last packet is cut off");
        else
            st = read_packet(r, bytes, n);
        r->at += n;
    }
    if (!st && ferror(r->f))
        st = err_set(r->err, VPU_ERR_IO, "%s: %s", r->name, strerror(errno));
    free(bytes);
    return st;
}

static vpu_status read_stream(const char *name, FILE *f,
                              const trc_read_ops *ops, vpu_error *err)
{
    reader r = {.name = name, .f = f, .ops = ops, .err = err};
    vpu_status st;

    r.a = arena_create(0);
    st = read_all(&r);
    arena_destroy(r.a);
    fclose(f);
    return st;
}

vpu_status trc_read_file(const char *path, const trc_read_ops *ops,
                         vpu_error *err)
{
    FILE *f = fopen(path, "rb");

    if (!f)
        return err_set(err, VPU_ERR_IO, "%s: %s", path, strerror(errno));
    return read_stream(path, f, ops, err);
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
