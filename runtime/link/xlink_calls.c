/* What users of a link call: each takes the lock and waits. */
#include "runtime/link/xlink_priv.h"

#include <stdlib.h>
#include <string.h>

static vpu_status not_open(uint32_t stream, vpu_error *err)
{
    return err_set(err, VPU_ERR_INVALID, "stream %u is not open", stream);
}

static vpu_status refused(const xlink_header *answer, vpu_error *err)
{
    if (answer->flags & XLINK_FLAG_ACK)
        return VPU_OK;
    return err_set(err,
                   answer->flags & XLINK_FLAG_SIZE_TOO_BIG ? VPU_ERR_NOMEM
                                                           : VPU_ERR_MISMATCH,
                   "%s: the other end refused, flags 0x%x",
                   xlink_event_name(answer->event), answer->flags);
}

static vpu_status open_stream(xlink *x, xlink_exchange *e, uint32_t *stream,
                              const struct timespec *deadline, vpu_error *err)
{
    xlink_header *h = &e->header;
    bool ours = !x->config.device && xlink_host_allocates(x->config.layout);
    xlink_stream *s = xlink_by_name(x, h->name);
    vpu_status st;

    if (s && s->write_size)
        return err_set(err, VPU_ERR_INVALID, "stream '%s' is open already",
                       h->name);
    h->stream = XLINK_NO_STREAM;
    if (ours) {
        if (!s)
            s = xlink_add_stream(x, h->name, xlink_new_id(x));
        if (!s)
            return err_set(err, VPU_ERR_LIMIT, "%s: %d streams are open",
                           h->name, XLINK_MAX_STREAMS);
        h->stream = s->id;
        s->write_size = h->size;
    }
    st = xlink_request(x, e, deadline, err);
    if (!st)
        st = refused(&e->answer, err);
    s = xlink_by_name(x, h->name);
    if (!st && !s)
        st = err_set(err, VPU_ERR_LIMIT, "%s: stream id %u cannot be added",
                     h->name, e->answer.stream);
    if (s && (ours || !st))
        s->write_size = st ? 0 : h->size;
    if (s && st)
        xlink_drop_if_closed(s);
    else if (s)
        *stream = s->id;
    return st;
}

vpu_status xlink_open(xlink *x, const char *name, uint32_t write_size,
                      uint32_t *stream, unsigned timeout_ms, vpu_error *err)
{
    struct timespec deadline = clock_deadline(timeout_ms);
    xlink_exchange e = {.header = {.event = XLINK_CREATE_STREAM}};
    vpu_status st;

    if (!*name || strlen(name) >= sizeof e.header.name)
        return err_set(err, VPU_ERR_INVALID,
                       "stream name of %zu bytes, expected 1 to %d",
                       strlen(name), XLINK_NAME_BYTES - 1);
    if (!write_size || write_size > UINT32_MAX - XLINK_SIZE_UNIT + 1)
        return err_set(err, VPU_ERR_INVALID,
                       "stream '%s': write size %u, expected 1 to %u", name,
                       write_size, UINT32_MAX - XLINK_SIZE_UNIT + 1);
    strcpy(e.header.name, name);
    e.header.size =
        (write_size + XLINK_SIZE_UNIT - 1) / XLINK_SIZE_UNIT * XLINK_SIZE_UNIT;
    pthread_mutex_lock(&x->lock);
    st = open_stream(x, &e, stream, &deadline, err);
    pthread_mutex_unlock(&x->lock);
    return st;
}

vpu_status xlink_ask_create(xlink *x, const char *name, uint32_t size,
                            xlink_header *answer, unsigned timeout_ms,
                            vpu_error *err)
{
    struct timespec deadline = clock_deadline(timeout_ms);
    xlink_exchange e = {.header = {.event = XLINK_CREATE_STREAM,
                                   .stream = XLINK_NO_STREAM,
                                   .size = size}};
    xlink_stream *s;
    vpu_status st;

    pthread_mutex_lock(&x->lock);
    s = xlink_by_name(x, name);
    if (s) {
        strcpy(e.header.name, s->name);
        if (!x->config.device && xlink_host_allocates(x->config.layout))
            e.header.stream = s->id;
        st = xlink_request(x, &e, &deadline, err);
        if (!st)
            *answer = e.answer;
    } else {
        st = err_set(err, VPU_ERR_INVALID, "stream '%s' is not open", name);
    }
    pthread_mutex_unlock(&x->lock);
    return st;
}

vpu_status xlink_find(xlink *x, const char *name, uint32_t *stream,
                      unsigned timeout_ms, vpu_error *err)
{
    struct timespec deadline = clock_deadline(timeout_ms);
    vpu_status st = VPU_OK;
    xlink_stream *s;

    pthread_mutex_lock(&x->lock);
    while (!(s = xlink_by_name(x, name)) && !st)
        if (x->over)
            st = xlink_over(x, err);
        else if (!xlink_wait(x, &deadline) && !xlink_by_name(x, name))
            st = err_set(err, VPU_ERR_LIMIT, "no stream '%s' within %u ms",
                         name, timeout_ms);
    if (s)
        *stream = s->id;
    pthread_mutex_unlock(&x->lock);
    return st;
}

/* Until n more bytes may be on their way. */
static vpu_status wait_room(xlink *x, uint32_t stream, uint32_t n,
                            const struct timespec *deadline, vpu_error *err)
{
    for (;;) {
        xlink_stream *s = xlink_by_id(x, stream);
        bool no_bound = s && !s->write_size && x->config.device;

        if (x->over)
            return xlink_over(x, err);
        if (!s || (!s->write_size && !no_bound))
            return not_open(stream, err);
        if (!no_bound && n > s->write_size)
            return err_set(err, VPU_ERR_INVALID,
                           "stream %u: a packet of %u bytes, its write size "
                           "is %u",
                           stream, n, s->write_size);
        if (s->out_packets < XLINK_MAX_PACKETS &&
            (no_bound || s->out_bytes + n <= s->write_size)) {
            s->out_packets++;
            s->out_bytes += n;
            return VPU_OK;
        }
        if (!xlink_wait(x, deadline))
            return err_set(err, VPU_ERR_LIMIT,
                           "stream %u: no room for %u bytes, %llu bytes in %u "
                           "packets are not released",
                           stream, n, (unsigned long long)s->out_bytes,
                           s->out_packets);
    }
}

unsigned xlink_unreleased(xlink *x, uint32_t stream)
{
    const xlink_stream *s;
    unsigned n;

    pthread_mutex_lock(&x->lock);
    s = xlink_by_id(x, stream);
    n = s ? s->out_packets : 0;
    pthread_mutex_unlock(&x->lock);
    return n;
}

vpu_status xlink_write(xlink *x, uint32_t stream, const void *data, uint32_t n,
                       unsigned timeout_ms, vpu_error *err)
{
    struct timespec deadline = clock_deadline(timeout_ms);
    xlink_exchange e = {
        .header = {.event = XLINK_WRITE, .stream = stream, .size = n},
        .payload = data,
        .n = n};
    xlink_stream *s;
    vpu_status st;

    pthread_mutex_lock(&x->lock);
    st = wait_room(x, stream, n, &deadline, err);
    if (!st) {
        st = xlink_request(x, &e, &deadline, err);
        if (!st)
            st = refused(&e.answer, err);
        s = xlink_by_id(x, stream);
        /* A late ack still brings a release; what never left does not. */
        if (s && st && (!e.sent || st == VPU_ERR_MISMATCH) && s->out_packets) {
            s->out_packets--;
            s->out_bytes -= n;
        }
    }
    pthread_mutex_unlock(&x->lock);
    return st;
}

vpu_status xlink_read(xlink *x, uint32_t stream, xlink_packet *out,
                      unsigned timeout_ms, vpu_error *err)
{
    struct timespec deadline = clock_deadline(timeout_ms);
    vpu_status st = VPU_OK;
    bool in_time = true;

    pthread_mutex_lock(&x->lock);
    for (;;) {
        xlink_stream *s = xlink_by_id(x, stream);

        if (!s) {
            st = not_open(stream, err);
        } else if (s->n_taken < s->n_in) {
            unsigned at = (s->first + s->n_taken++) % XLINK_MAX_PACKETS;

            *out = (xlink_packet){s->in[at].data, s->in[at].bytes};
        } else if (x->over) {
            st = xlink_over(x, err);
        } else if (!in_time) {
            st = err_set(err, VPU_ERR_LIMIT,
                         "stream %u: nothing arrived within %u ms", stream,
                         timeout_ms);
        } else {
            in_time = xlink_wait(x, &deadline);
            continue;
        }
        break;
    }
    pthread_mutex_unlock(&x->lock);
    return st;
}

/* Of the packets not read yet, the one that arrived first; NULL: there is none.
 */
static xlink_stream *earliest(xlink *x)
{
    xlink_stream *best = NULL;
    uint64_t seq = UINT64_MAX;

    for (int i = 0; i < XLINK_MAX_STREAMS; i++) {
        xlink_stream *s = &x->streams[i];
        unsigned at = (s->first + s->n_taken) % XLINK_MAX_PACKETS;

        if (s->used && s->n_taken < s->n_in && s->in[at].seq < seq) {
            seq = s->in[at].seq;
            best = s;
        }
    }
    return best;
}

vpu_status xlink_read_any(xlink *x, uint32_t *stream, xlink_packet *out,
                          unsigned timeout_ms, vpu_error *err)
{
    struct timespec deadline = clock_deadline(timeout_ms);
    vpu_status st = VPU_OK;
    bool in_time = true;
    xlink_stream *s;

    pthread_mutex_lock(&x->lock);
    while (!(s = earliest(x)) && !st)
        if (x->over)
            st = xlink_over(x, err);
        else if (!in_time)
            st = err_set(err, VPU_ERR_LIMIT, "nothing arrived within %u ms",
                         timeout_ms);
        else
            in_time = xlink_wait(x, &deadline);
    if (s) {
        unsigned at = (s->first + s->n_taken++) % XLINK_MAX_PACKETS;

        *stream = s->id;
        *out = (xlink_packet){s->in[at].data, s->in[at].bytes};
    }
    pthread_mutex_unlock(&x->lock);
    return st;
}

bool xlink_stream_name(xlink *x, uint32_t stream, char out[XLINK_NAME_BYTES])
{
    xlink_stream *s;

    pthread_mutex_lock(&x->lock);
    s = xlink_by_id(x, stream);
    if (s)
        memcpy(out, s->name, XLINK_NAME_BYTES);
    pthread_mutex_unlock(&x->lock);
    return s;
}

bool xlink_was_reset(xlink *x)
{
    bool was;

    pthread_mutex_lock(&x->lock);
    was = x->was_reset;
    pthread_mutex_unlock(&x->lock);
    return was;
}

void xlink_fail(xlink *x, const vpu_error *why)
{
    pthread_mutex_lock(&x->lock);
    xlink_end(x, why);
    pthread_mutex_unlock(&x->lock);
}

vpu_status xlink_release(xlink *x, uint32_t stream, unsigned timeout_ms,
                         vpu_error *err)
{
    struct timespec deadline = clock_deadline(timeout_ms);
    xlink_exchange e = {.header = {.event = XLINK_READ_REL, .stream = stream}};
    xlink_stream *s;
    vpu_status st;

    pthread_mutex_lock(&x->lock);
    s = xlink_by_id(x, stream);
    if (!s) {
        st = not_open(stream, err);
    } else if (!s->n_taken) {
        st = err_set(err, VPU_ERR_INVALID,
                     "stream %u: no packet was read that could be released",
                     stream);
    } else {
        e.header.size = s->in[s->first].bytes;
        free(s->in[s->first].data);
        s->first = (s->first + 1) % XLINK_MAX_PACKETS;
        s->n_in--;
        s->n_taken--;
        st = xlink_request(x, &e, &deadline, err);
        if (!st)
            st = refused(&e.answer, err);
    }
    pthread_mutex_unlock(&x->lock);
    return st;
}

static vpu_status wait_released(xlink *x, uint32_t stream,
                                const struct timespec *deadline, vpu_error *err)
{
    for (;;) {
        xlink_stream *s = xlink_by_id(x, stream);

        if (x->over)
            return xlink_over(x, err);
        if (!s || !s->write_size)
            return not_open(stream, err);
        if (!s->out_packets)
            return VPU_OK;
        if (!xlink_wait(x, deadline))
            return err_set(err, VPU_ERR_LIMIT,
                           "closing stream %u: %llu bytes in %u packets are "
                           "not released",
                           stream, (unsigned long long)s->out_bytes,
                           s->out_packets);
    }
}

enum { CLOSE_TRIES = 5, CLOSE_PAUSE_MS = 20 };

/* The other end refuses while it has packets of the stream it has not released:
 * then again, a little later. */
static vpu_status request_close(xlink *x, uint32_t stream,
                                const struct timespec *deadline,
                                xlink_header *answer, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (int i = 0; i < CLOSE_TRIES && !st; i++) {
        xlink_exchange e = {
            .header = {.event = XLINK_CLOSE_STREAM, .stream = stream}};
        struct timespec pause = clock_deadline(CLOSE_PAUSE_MS);

        while (i && !x->over && xlink_wait(x, &pause))
            ;
        st = xlink_request(x, &e, deadline, err);
        *answer = e.answer;
        if (!st && answer->flags & XLINK_FLAG_ACK)
            break;
    }
    return st;
}

vpu_status xlink_close(xlink *x, uint32_t stream, unsigned timeout_ms,
                       vpu_error *err)
{
    struct timespec deadline = clock_deadline(timeout_ms);
    xlink_header answer;
    xlink_stream *s;
    vpu_status st;

    pthread_mutex_lock(&x->lock);
    st = wait_released(x, stream, &deadline, err);
    if (!st) {
        st = request_close(x, stream, &deadline, &answer, err);
        s = xlink_by_id(x, stream);
        /* Whatever the answer [S]. */
        if (!st && s) {
            s->write_size = 0;
            xlink_drop_if_closed(s);
        }
        if (!st)
            st = refused(&answer, err);
    }
    pthread_mutex_unlock(&x->lock);
    return st;
}

vpu_status xlink_reset(xlink *x, unsigned timeout_ms, vpu_error *err)
{
    struct timespec deadline = clock_deadline(timeout_ms);
    xlink_exchange e = {.header = {.event = XLINK_RESET}};
    vpu_error why;
    vpu_status st;

    pthread_mutex_lock(&x->lock);
    st = xlink_request(x, &e, &deadline, err);
    err_set(&why, VPU_ERR_IO, "the link was reset from here");
    xlink_end(x, &why);
    pthread_mutex_unlock(&x->lock);
    return st;
}
