/* The two threads of a link: what arrives, what is sent. */
#include "runtime/link/xlink_priv.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 20, /* of payload per transfer */
    SLICE_MS = 100,  /* how soon the reader sees that it should end */
    MAX_QUEUED = 512 /* events to send; a peer that reads needs far fewer */
};

bool xlink_wait(xlink *x, const struct timespec *deadline)
{
    return !pthread_cond_timedwait(&x->changed, &x->lock, deadline);
}

void xlink_end(xlink *x, const vpu_error *why)
{
    if (!x->over) {
        x->over = true;
        x->why = *why;
    }
    pthread_cond_broadcast(&x->changed);
}

vpu_status xlink_over(const xlink *x, vpu_error *err)
{
    return err_set(err, VPU_ERR_IO, "%s", x->why.msg);
}

xlink_stream *xlink_by_id(xlink *x, uint32_t id)
{
    for (int i = 0; i < XLINK_MAX_STREAMS; i++)
        if (x->streams[i].used && x->streams[i].id == id)
            return &x->streams[i];
    return NULL;
}

xlink_stream *xlink_by_name(xlink *x, const char *name)
{
    for (int i = 0; i < XLINK_MAX_STREAMS; i++)
        if (x->streams[i].used && !strcmp(x->streams[i].name, name))
            return &x->streams[i];
    return NULL;
}

xlink_stream *xlink_add_stream(xlink *x, const char *name, uint32_t id)
{
    if (xlink_by_id(x, id))
        return NULL;
    for (int i = 0; i < XLINK_MAX_STREAMS; i++) {
        xlink_stream *s = &x->streams[i];

        if (s->used)
            continue;
        memset(s, 0, sizeof *s);
        s->used = true;
        s->id = id;
        strcpy(s->name, name);
        return s;
    }
    return NULL;
}

/* The last one again if it is free, else the next [S]. */
uint32_t xlink_new_id(xlink *x)
{
    while (xlink_by_id(x, x->last_stream))
        x->last_stream = (x->last_stream + 1) & 0xffffff;
    return x->last_stream;
}

void xlink_drop_if_closed(xlink_stream *s)
{
    if (s->read_size || s->write_size)
        return;
    for (unsigned i = 0; i < s->n_in; i++)
        free(s->in[(s->first + i) % XLINK_MAX_PACKETS].data);
    s->used = false;
}

/* Copies the payload: whoever waits may give up before it is sent. The caller
 * wakes the writer. */
static vpu_status enqueue(xlink *x, const xlink_header *h, const void *payload,
                          uint32_t n, vpu_error *err)
{
    xlink_queued *e = malloc(sizeof *e + n);
    vpu_status st;

    if (!e)
        return err_set(err, VPU_ERR_NOMEM, "no memory for %u bytes to send", n);
    st = xlink_encode(x->config.layout, h, e->header, sizeof e->header, err);
    if (st) {
        free(e);
        return st;
    }
    e->next = NULL;
    e->bytes = n;
    if (n)
        memcpy(e->payload, payload, n);
    *x->queue_end = e;
    x->queue_end = &e->next;
    x->n_queue++;
    return VPU_OK;
}

static vpu_status await(xlink *x, xlink_pending *p,
                        const struct timespec *deadline, vpu_error *err)
{
    while (!p->done) {
        if (x->over)
            return xlink_over(x, err);
        if (!xlink_wait(x, deadline) && !p->done)
            return err_set(err, VPU_ERR_LIMIT, "%s: no answer in time",
                           xlink_event_name(p->event));
    }
    return VPU_OK;
}

vpu_status xlink_request(xlink *x, xlink_exchange *e,
                         const struct timespec *deadline, vpu_error *err)
{
    xlink_header *h = &e->header;
    xlink_pending *p = NULL;
    vpu_status st;

    e->sent = false;
    for (;;) {
        if (x->over)
            return xlink_over(x, err);
        for (int i = 0; i < XLINK_MAX_IN_FLIGHT && !p; i++)
            p = x->pending[i].used ? NULL : &x->pending[i];
        if (p)
            break;
        if (!xlink_wait(x, deadline))
            return err_set(err, VPU_ERR_LIMIT, "%s: %d requests in flight",
                           xlink_event_name(h->event), XLINK_MAX_IN_FLIGHT);
    }
    h->id = x->next_id++;
    h->flags = XLINK_FLAG_ACK;
    /* As hosts of layout C do; not read by anyone [S]. */
    h->can_be_served = x->config.layout == XLINK_LAYOUT_C &&
                       !x->config.device && h->event != XLINK_PING &&
                       h->event != XLINK_RESET;
    st = enqueue(x, h, e->payload, e->n, err);
    if (st)
        return st;
    pthread_cond_signal(&x->work);
    e->sent = true;
    *p = (xlink_pending){.used = true, .id = h->id, .event = h->event};
    st = await(x, p, deadline, err);
    e->answer = p->answer;
    p->used = false;
    pthread_cond_broadcast(&x->changed);
    return st;
}

static vpu_status respond(xlink *x, const xlink_header *to, uint32_t flags,
                          uint32_t stream, uint32_t size, vpu_error *err)
{
    xlink_header h = {.id = to->id,
                      .event = to->event,
                      .response = true,
                      .stream = stream,
                      .size = size,
                      .flags = flags};

    if (to->flags & XLINK_FLAG_LOCAL_SERVE)
        return VPU_OK;
    if (x->n_queue >= MAX_QUEUED)
        return err_set(err, VPU_ERR_IO,
                       "the other end sends requests but does not take the "
                       "answers: %u wait",
                       x->n_queue);
    memcpy(h.name, to->name, sizeof h.name);
    return enqueue(x, &h, NULL, 0, err);
}

/* The stream a CREATE_STREAM request means; NULL: refused. */
static xlink_stream *created(xlink *x, const xlink_header *h)
{
    xlink_stream *s = xlink_by_name(x, h->name);
    bool named = x->config.device && xlink_host_allocates(x->config.layout);

    if (h->size == 0 || (s && named && s->id != h->stream))
        return NULL;
    if (!s)
        s = xlink_add_stream(x, h->name, named ? h->stream : xlink_new_id(x));
    if (!s || (s->read_size && h->size > s->read_size))
        return NULL;
    if (!s->read_size)
        s->read_size = h->size;
    return s;
}

static vpu_status on_close(xlink *x, const xlink_header *h, vpu_error *err)
{
    xlink_stream *s = xlink_by_id(x, h->stream);

    if (s && s->n_in)
        return respond(x, h, XLINK_FLAG_NACK, h->stream, 0, err);
    if (s) {
        s->read_size = 0;
        xlink_drop_if_closed(s);
    }
    return respond(x, h, XLINK_FLAG_ACK, h->stream, 0, err);
}

static vpu_status on_release(xlink *x, const xlink_header *h, vpu_error *err)
{
    xlink_stream *s = xlink_by_id(x, h->stream);

    if (!s)
        return respond(x, h, XLINK_FLAG_NACK, h->stream, h->size, err);
    if (!s->out_packets || h->size > s->out_bytes)
        return err_set(err, VPU_ERR_IO,
                       "%s of stream %u: size %u, expected at most the %llu "
                       "bytes in %u packets not released yet",
                       xlink_event_name(h->event), h->stream, h->size,
                       (unsigned long long)s->out_bytes, s->out_packets);
    s->out_packets--;
    s->out_bytes -= h->size;
    return respond(x, h, XLINK_FLAG_ACK, h->stream, h->size, err);
}

static vpu_status on_request(xlink *x, const xlink_header *h, vpu_error *err)
{
    xlink_stream *s;
    vpu_status st;

    switch (h->event) {
    case XLINK_PING:
        x->connected = true;
        return respond(x, h, XLINK_FLAG_ACK, 0, 0, err);
    case XLINK_CREATE_STREAM:
        s = created(x, h);
        return respond(x, h, s ? XLINK_FLAG_ACK : XLINK_FLAG_SIZE_TOO_BIG,
                       s ? s->id : XLINK_NO_STREAM, h->size, err);
    case XLINK_CLOSE_STREAM:
        return on_close(x, h, err);
    case XLINK_READ_REL:
    case XLINK_READ_REL_SPEC:
        return on_release(x, h, err);
    case XLINK_RESET:
        x->was_reset = true;
        st = respond(x, h, XLINK_FLAG_ACK, 0, 0, err);
        return st ? st
                  : err_set(err, VPU_ERR_IO, "the other end reset the link");
    default: /* DROP; a WRITE does not come here */
        return respond(x, h, XLINK_FLAG_ACK, h->stream, 0, err);
    }
}

static void on_response(xlink *x, const xlink_header *h)
{
    for (int i = 0; i < XLINK_MAX_IN_FLIGHT; i++) {
        xlink_pending *p = &x->pending[i];

        if (!p->used || p->done || p->id != h->id || p->event != h->event)
            continue;
        p->done = true;
        p->answer = *h;
        /* Here, not in xlink_open: the next event may be for the stream. */
        if (h->event == XLINK_CREATE_STREAM && (h->flags & XLINK_FLAG_ACK) &&
            (x->config.device || !xlink_host_allocates(x->config.layout)) &&
            !xlink_by_name(x, h->name))
            xlink_add_stream(x, h->name, h->stream);
    }
}

static void seen(const xlink *x, bool sent, const xlink_header *h,
                 const void *payload, uint32_t n)
{
    const xlink_watch *w = x->config.watch;

    if (w)
        w->seen(w->user, sent, h, payload, n);
}

/* With the lock; gives it up while the payload arrives. */
static vpu_status on_write(xlink *x, const xlink_header *h, vpu_error *err)
{
    xlink_stream *s = xlink_by_id(x, h->stream);
    uint8_t *data;
    vpu_status st = VPU_OK;

    if (!s || s->n_in == XLINK_MAX_PACKETS || h->size > x->config.max_packet)
        return err_set(err, VPU_ERR_IO,
                       "WRITE request to stream %u, size %u: expected an open "
                       "stream with fewer than %d packets, at most %u bytes",
                       h->stream, h->size, XLINK_MAX_PACKETS,
                       x->config.max_packet);
    data = h->size ? malloc(h->size) : NULL;
    if (h->size && !data)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a packet of %u bytes",
                       h->size);
    pthread_mutex_unlock(&x->lock);
    for (uint32_t at = 0, n; at < h->size && !st; at += n) {
        size_t got;

        n = h->size - at < CHUNK ? h->size - at : CHUNK;
        st = transport_read(x->transport, data + at, n, &got,
                            x->config.timeout_ms, err);
    }
    pthread_mutex_lock(&x->lock);
    seen(x, false, h, data, st ? 0 : h->size);
    s = xlink_by_id(x, h->stream);
    if (st || !s) { /* without s: closed here meanwhile */
        free(data);
        return st ? st : respond(x, h, XLINK_FLAG_ACK, h->stream, h->size, err);
    }
    unsigned last = (s->first + s->n_in++) % XLINK_MAX_PACKETS;
    s->in[last].data = data;
    s->in[last].bytes = h->size;
    s->in[last].seq = x->next_seq++;
    return respond(x, h, XLINK_FLAG_ACK, h->stream, h->size, err);
}

static bool must_end(xlink *x)
{
    pthread_mutex_lock(&x->lock);
    bool end = x->over || x->stopping;
    pthread_mutex_unlock(&x->lock);
    return end;
}

/* Waits for a header as long as the link lasts; for the rest of one,
 * timeout_ms. Reads ask for all of it: over USB a shorter read would overflow.
 */
static vpu_status read_header(xlink *x, uint8_t *buf, size_t n, vpu_error *err)
{
    size_t got = 0, more = 0;
    vpu_status st;

    do
        st = transport_read(x->transport, buf, n, &got, SLICE_MS, err);
    while (st == VPU_ERR_LIMIT && !got && !must_end(x));
    if (st == VPU_ERR_LIMIT && got)
        st = transport_read(x->transport, buf + got, n - got, &more,
                            x->config.timeout_ms, err);
    return st;
}

static void *read_events(void *arg)
{
    xlink *x = arg;
    size_t n = xlink_header_size(x->config.layout);
    vpu_status st;

    do {
        uint8_t bytes[XLINK_HEADER_MAX];
        xlink_header h;
        vpu_error err;

        st = read_header(x, bytes, n, &err);
        if (!st)
            st = xlink_decode(x->config.layout, bytes, n, &h, &err);
        pthread_mutex_lock(&x->lock);
        if (!st && (h.response || h.event != XLINK_WRITE))
            seen(x, false, &h, NULL, 0);
        if (!st && h.response)
            on_response(x, &h);
        else if (!st)
            st = h.event == XLINK_WRITE ? on_write(x, &h, &err)
                                        : on_request(x, &h, &err);
        if (st)
            xlink_end(x, &err);
        pthread_mutex_unlock(&x->lock);
        /* Unlocked, or who wakes waits at once for the lock. */
        pthread_cond_broadcast(&x->changed);
        pthread_cond_signal(&x->work);
    } while (!st && !must_end(x));
    return NULL;
}

/* Header and payload are transfers of their own (docs/usb.md). */
static vpu_status send_event(xlink *x, const xlink_queued *e, vpu_error *err)
{
    size_t put;
    vpu_status st = transport_write(x->transport, e->header,
                                    xlink_header_size(x->config.layout), &put,
                                    x->config.timeout_ms, err);

    for (uint32_t at = 0, n; at < e->bytes && !st; at += n) {
        n = e->bytes - at < CHUNK ? e->bytes - at : CHUNK;
        st = transport_write(x->transport, e->payload + at, n, &put,
                             x->config.timeout_ms, err);
    }
    return st;
}

/* Goes on after the end of the link: the answer to a RESET is still to go. */
static void *write_events(void *arg)
{
    xlink *x = arg;
    vpu_status st = VPU_OK;

    pthread_mutex_lock(&x->lock);
    while (!st) {
        xlink_queued *e = x->queue;
        xlink_header h;
        vpu_error err;

        if (!e && x->stopping)
            break;
        if (!e) {
            pthread_cond_wait(&x->work, &x->lock);
            continue;
        }
        x->queue = e->next;
        if (!x->queue)
            x->queue_end = &x->queue;
        x->n_queue--;
        if (x->config.watch &&
            !xlink_decode(x->config.layout, e->header,
                          xlink_header_size(x->config.layout), &h, &err))
            seen(x, true, &h, e->bytes ? e->payload : NULL, e->bytes);
        pthread_mutex_unlock(&x->lock);
        st = send_event(x, e, &err);
        free(e);
        pthread_mutex_lock(&x->lock);
        if (st)
            xlink_end(x, &err);
    }
    x->writing = false;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

/* In slices, to see that it should stop. */
static vpu_status await_ping(xlink *x, vpu_error *err)
{
    unsigned left =
        x->config.ping_ms ? x->config.ping_ms : x->config.timeout_ms;

    while (!x->connected) {
        unsigned slice = left < SLICE_MS ? left : SLICE_MS;
        struct timespec deadline = clock_deadline(slice);

        if (x->over)
            return xlink_over(x, err);
        if (x->config.stop && atomic_load(x->config.stop))
            return err_set(err, VPU_ERR_IO, "stopped before a PING came");
        if (!left)
            return err_set(err, VPU_ERR_LIMIT, "no PING within %u ms",
                           x->config.ping_ms ? x->config.ping_ms
                                             : x->config.timeout_ms);
        while (!x->connected && !x->over && xlink_wait(x, &deadline))
            ;
        left -= slice;
    }
    return VPU_OK;
}

static vpu_status handshake(xlink *x, vpu_error *err)
{
    struct timespec deadline = clock_deadline(x->config.timeout_ms);
    xlink_exchange ping = {.header = {.event = XLINK_PING}};
    vpu_status st;

    pthread_mutex_lock(&x->lock);
    st = x->config.device ? await_ping(x, err)
                          : xlink_request(x, &ping, &deadline, err);
    pthread_mutex_unlock(&x->lock);
    return st;
}

vpu_status xlink_start(transport *t, const xlink_config *config, xlink **out,
                       vpu_error *err)
{
    xlink *x = calloc(1, sizeof *x);
    pthread_condattr_t attr;
    vpu_status st;

    if (!x)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a link");
    x->transport = t;
    x->config = *config;
    x->next_id = XLINK_FIRST_ID;
    x->queue_end = &x->queue;
    x->writing = true;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&x->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_cond_init(&x->work, NULL);
    pthread_mutex_init(&x->lock, NULL);
    if (pthread_create(&x->writer, NULL, write_events, x)) {
        free(x);
        return err_set(err, VPU_ERR_NOMEM, "no thread for a link");
    }
    if (pthread_create(&x->reader, NULL, read_events, x)) {
        x->reader = x->writer; /* joined once, see xlink_stop */
        xlink_stop(x);
        return err_set(err, VPU_ERR_NOMEM, "no thread for a link");
    }
    st = handshake(x, err);
    if (st)
        xlink_stop(x);
    else
        *out = x;
    return st;
}

void xlink_stop(xlink *x)
{
    struct timespec deadline;

    if (!x)
        return;
    deadline = clock_deadline(x->config.stop_ms ? x->config.stop_ms
                                                : x->config.timeout_ms);
    pthread_mutex_lock(&x->lock);
    x->stopping = true;
    pthread_cond_broadcast(&x->changed);
    pthread_cond_signal(&x->work);
    while (x->writing && xlink_wait(x, &deadline))
        ;
    pthread_mutex_unlock(&x->lock);
    transport_reset(x->transport);
    if (!pthread_equal(x->reader, x->writer))
        pthread_join(x->reader, NULL);
    pthread_join(x->writer, NULL);
    for (xlink_queued *e = x->queue, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    for (int i = 0; i < XLINK_MAX_STREAMS; i++) {
        x->streams[i].read_size = x->streams[i].write_size = 0;
        if (x->streams[i].used)
            xlink_drop_if_closed(&x->streams[i]);
    }
    pthread_mutex_destroy(&x->lock);
    pthread_cond_destroy(&x->changed);
    pthread_cond_destroy(&x->work);
    free(x);
}
