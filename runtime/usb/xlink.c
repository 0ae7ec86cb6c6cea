#include "runtime/usb/xlink.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    CHUNK = 1 << 20, /* of payload per transfer */
    SLICE_MS = 100,  /* how soon the reader sees that it should end */
    MAX_QUEUED = 512 /* events to send; a peer that reads needs far fewer */
};

typedef struct {
    bool used, done;
    uint32_t id;
    xlink_event event;
    xlink_header answer;
} pending;

typedef struct {
    bool used;
    char name[XLINK_NAME_BYTES];
    uint32_t id, read_size, write_size; /* sizes: 0 = direction not open */
    uint64_t out_bytes;
    unsigned out_packets; /* written, not released */
    unsigned first, n_in, n_taken;
    struct {
        void *data;
        uint32_t n;
    } in[XLINK_MAX_PACKETS]; /* a ring, the oldest at first */
} stream_entry;

typedef struct event {
    struct event *next;
    uint8_t header[XLINK_HEADER_MAX];
    uint32_t n;
    uint8_t payload[];
} event;

struct xlink {
    transport *t;
    xlink_config config;
    pthread_mutex_t lock; /* all below */
    pthread_cond_t changed;
    pthread_t reader, writer;
    bool connected, over, stopping, writing;
    vpu_error why; /* when over */
    uint32_t next_id, last_stream;
    pending pending[XLINK_MAX_IN_FLIGHT];
    stream_entry streams[XLINK_MAX_STREAMS];
    event *queue, **queue_end;
    unsigned n_queue;
};

static struct timespec deadline_in(unsigned ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* False: the time is up. */
static bool wait_change(xlink *x, const struct timespec *deadline)
{
    return !pthread_cond_timedwait(&x->changed, &x->lock, deadline);
}

/* The first reason stays. */
static void end_link(xlink *x, const vpu_error *why)
{
    if (!x->over) {
        x->over = true;
        x->why = *why;
    }
    pthread_cond_broadcast(&x->changed);
}

static vpu_status is_over(const xlink *x, vpu_error *err)
{
    return err_set(err, VPU_ERR_IO, "%s", x->why.msg);
}

static stream_entry *by_id(xlink *x, uint32_t id)
{
    for (int i = 0; i < XLINK_MAX_STREAMS; i++)
        if (x->streams[i].used && x->streams[i].id == id)
            return &x->streams[i];
    return NULL;
}

static stream_entry *by_name(xlink *x, const char *name)
{
    for (int i = 0; i < XLINK_MAX_STREAMS; i++)
        if (x->streams[i].used && !strcmp(x->streams[i].name, name))
            return &x->streams[i];
    return NULL;
}

/* NULL: no room, or the id is another stream's. */
static stream_entry *add_stream(xlink *x, const char *name, uint32_t id)
{
    if (by_id(x, id))
        return NULL;
    for (int i = 0; i < XLINK_MAX_STREAMS; i++) {
        stream_entry *s = &x->streams[i];

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
static uint32_t new_stream_id(xlink *x)
{
    while (by_id(x, x->last_stream))
        x->last_stream = (x->last_stream + 1) & 0xffffff;
    return x->last_stream;
}

static void drop_if_closed(stream_entry *s)
{
    if (s->read_size || s->write_size)
        return;
    for (unsigned i = 0; i < s->n_in; i++)
        free(s->in[(s->first + i) % XLINK_MAX_PACKETS].data);
    s->used = false;
}

static vpu_status not_open(uint32_t stream, vpu_error *err)
{
    return err_set(err, VPU_ERR_INVALID, "stream %u is not open", stream);
}

/* Copies the payload: whoever waits may give up before it is sent. */
static vpu_status enqueue(xlink *x, const xlink_header *h, const void *payload,
                          uint32_t n, vpu_error *err)
{
    event *e = malloc(sizeof *e + n);
    vpu_status rc;

    if (!e)
        return err_set(err, VPU_ERR_NOMEM, "no memory for %u bytes to send", n);
    rc = xlink_encode(x->config.layout, h, e->header, sizeof e->header, err);
    if (rc) {
        free(e);
        return rc;
    }
    e->next = NULL;
    e->n = n;
    if (n)
        memcpy(e->payload, payload, n);
    *x->queue_end = e;
    x->queue_end = &e->next;
    x->n_queue++;
    pthread_cond_broadcast(&x->changed);
    return VPU_OK;
}

static vpu_status await(xlink *x, pending *p, const struct timespec *deadline,
                        vpu_error *err)
{
    while (!p->done) {
        if (x->over)
            return is_over(x, err);
        if (!wait_change(x, deadline) && !p->done)
            return err_set(err, VPU_ERR_LIMIT, "%s: no answer in time",
                           xlink_event_name(p->event));
    }
    return VPU_OK;
}

/* Send a request and wait for its answer. *sent: the peer may have got it. */
static vpu_status request(xlink *x, xlink_header *h, const void *payload,
                          uint32_t n, const struct timespec *deadline,
                          xlink_header *answer, bool *sent, vpu_error *err)
{
    pending *p = NULL;
    vpu_status rc;

    *sent = false;
    for (;;) {
        if (x->over)
            return is_over(x, err);
        for (int i = 0; i < XLINK_MAX_IN_FLIGHT && !p; i++)
            p = x->pending[i].used ? NULL : &x->pending[i];
        if (p)
            break;
        if (!wait_change(x, deadline))
            return err_set(err, VPU_ERR_LIMIT, "%s: %d requests in flight",
                           xlink_event_name(h->event), XLINK_MAX_IN_FLIGHT);
    }
    h->id = x->next_id++;
    h->flags = XLINK_FLAG_ACK;
    /* As hosts of layout C do; not read by anyone [S]. */
    h->can_be_served = x->config.layout == XLINK_LAYOUT_C &&
                       !x->config.device && h->event != XLINK_PING &&
                       h->event != XLINK_RESET;
    rc = enqueue(x, h, payload, n, err);
    if (rc)
        return rc;
    *sent = true;
    *p = (pending){.used = true, .id = h->id, .event = h->event};
    rc = await(x, p, deadline, err);
    *answer = p->answer;
    p->used = false;
    pthread_cond_broadcast(&x->changed);
    return rc;
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
static stream_entry *created(xlink *x, const xlink_header *h)
{
    stream_entry *s = by_name(x, h->name);
    bool named = x->config.device && xlink_host_allocates(x->config.layout);

    if (h->size == 0 || (s && named && s->id != h->stream))
        return NULL;
    if (!s)
        s = add_stream(x, h->name, named ? h->stream : new_stream_id(x));
    if (!s || (s->read_size && h->size > s->read_size))
        return NULL;
    if (!s->read_size)
        s->read_size = h->size;
    return s;
}

static vpu_status on_close(xlink *x, const xlink_header *h, vpu_error *err)
{
    stream_entry *s = by_id(x, h->stream);

    if (s && s->n_in)
        return respond(x, h, XLINK_FLAG_NACK, h->stream, 0, err);
    if (s) {
        s->read_size = 0;
        drop_if_closed(s);
    }
    return respond(x, h, XLINK_FLAG_ACK, h->stream, 0, err);
}

static vpu_status on_release(xlink *x, const xlink_header *h, vpu_error *err)
{
    stream_entry *s = by_id(x, h->stream);

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
    stream_entry *s;
    vpu_status rc;

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
        rc = respond(x, h, XLINK_FLAG_ACK, 0, 0, err);
        return rc ? rc
                  : err_set(err, VPU_ERR_IO, "the other end reset the link");
    default: /* DROP; a WRITE does not come here */
        return respond(x, h, XLINK_FLAG_ACK, h->stream, 0, err);
    }
}

static void on_response(xlink *x, const xlink_header *h)
{
    for (int i = 0; i < XLINK_MAX_IN_FLIGHT; i++) {
        pending *p = &x->pending[i];

        if (!p->used || p->done || p->id != h->id || p->event != h->event)
            continue;
        p->done = true;
        p->answer = *h;
        /* Here, not in xlink_open: the next event may be for the stream. */
        if (h->event == XLINK_CREATE_STREAM && (h->flags & XLINK_FLAG_ACK) &&
            (x->config.device || !xlink_host_allocates(x->config.layout)) &&
            !by_name(x, h->name))
            add_stream(x, h->name, h->stream);
    }
}

/* With the lock; gives it up while the payload arrives. */
static vpu_status on_write(xlink *x, const xlink_header *h, vpu_error *err)
{
    stream_entry *s = by_id(x, h->stream);
    uint8_t *data;
    vpu_status rc = VPU_OK;

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
    for (uint32_t at = 0, n; at < h->size && !rc; at += n) {
        size_t got;

        n = h->size - at < CHUNK ? h->size - at : CHUNK;
        rc =
            transport_read(x->t, data + at, n, &got, x->config.timeout_ms, err);
    }
    pthread_mutex_lock(&x->lock);
    s = by_id(x, h->stream);
    if (rc || !s) { /* without s: closed here meanwhile */
        free(data);
        return rc ? rc : respond(x, h, XLINK_FLAG_ACK, h->stream, h->size, err);
    }
    unsigned last = (s->first + s->n_in++) % XLINK_MAX_PACKETS;
    s->in[last].data = data;
    s->in[last].n = h->size;
    return respond(x, h, XLINK_FLAG_ACK, h->stream, h->size, err);
}

static bool must_end(xlink *x)
{
    pthread_mutex_lock(&x->lock);
    bool end = x->over || x->stopping;
    pthread_mutex_unlock(&x->lock);
    return end;
}

/* Waits for the first byte as long as the link lasts, then timeout_ms. */
static vpu_status read_header(xlink *x, uint8_t *buf, size_t n, vpu_error *err)
{
    size_t got = 0;
    vpu_status rc;

    do
        rc = transport_read(x->t, buf, 1, &got, SLICE_MS, err);
    while (rc == VPU_ERR_LIMIT && !must_end(x));
    return rc ? rc
              : transport_read(x->t, buf + 1, n - 1, &got, x->config.timeout_ms,
                               err);
}

static void *read_events(void *arg)
{
    xlink *x = arg;
    size_t n = xlink_header_size(x->config.layout);
    vpu_status rc;

    do {
        uint8_t bytes[XLINK_HEADER_MAX];
        xlink_header h;
        vpu_error err;

        rc = read_header(x, bytes, n, &err);
        if (!rc)
            rc = xlink_decode(x->config.layout, bytes, n, &h, &err);
        pthread_mutex_lock(&x->lock);
        if (!rc && h.response)
            on_response(x, &h);
        else if (!rc)
            rc = h.event == XLINK_WRITE ? on_write(x, &h, &err)
                                        : on_request(x, &h, &err);
        if (rc)
            end_link(x, &err);
        pthread_cond_broadcast(&x->changed);
        pthread_mutex_unlock(&x->lock);
    } while (!rc && !must_end(x));
    return NULL;
}

/* Header and payload are transfers of their own (docs/usb.md). */
static vpu_status send_event(xlink *x, const event *e, vpu_error *err)
{
    size_t put;
    vpu_status rc =
        transport_write(x->t, e->header, xlink_header_size(x->config.layout),
                        &put, x->config.timeout_ms, err);

    for (uint32_t at = 0, n; at < e->n && !rc; at += n) {
        n = e->n - at < CHUNK ? e->n - at : CHUNK;
        rc = transport_write(x->t, e->payload + at, n, &put,
                             x->config.timeout_ms, err);
    }
    return rc;
}

/* Goes on after the end of the link: the answer to a RESET is still to go. */
static void *write_events(void *arg)
{
    xlink *x = arg;
    vpu_status rc = VPU_OK;

    pthread_mutex_lock(&x->lock);
    while (!rc) {
        event *e = x->queue;
        vpu_error err;

        if (!e && x->stopping)
            break;
        if (!e) {
            pthread_cond_wait(&x->changed, &x->lock);
            continue;
        }
        x->queue = e->next;
        if (!x->queue)
            x->queue_end = &x->queue;
        x->n_queue--;
        pthread_mutex_unlock(&x->lock);
        rc = send_event(x, e, &err);
        free(e);
        pthread_mutex_lock(&x->lock);
        if (rc)
            end_link(x, &err);
        pthread_cond_broadcast(&x->changed);
    }
    x->writing = false;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

static vpu_status handshake(xlink *x, vpu_error *err)
{
    struct timespec deadline = deadline_in(x->config.timeout_ms);
    xlink_header h = {.event = XLINK_PING}, answer;
    vpu_status rc = VPU_OK;
    bool sent;

    pthread_mutex_lock(&x->lock);
    if (!x->config.device)
        rc = request(x, &h, NULL, 0, &deadline, &answer, &sent, err);
    while (x->config.device && !x->connected && !rc)
        if (x->over)
            rc = is_over(x, err);
        else if (!wait_change(x, &deadline) && !x->connected)
            rc = err_set(err, VPU_ERR_LIMIT, "no PING within %u ms",
                         x->config.timeout_ms);
    pthread_mutex_unlock(&x->lock);
    return rc;
}

vpu_status xlink_start(transport *t, const xlink_config *config, xlink **out,
                       vpu_error *err)
{
    xlink *x = calloc(1, sizeof *x);
    pthread_condattr_t attr;
    vpu_status rc;

    if (!x)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a link");
    x->t = t;
    x->config = *config;
    x->next_id = XLINK_FIRST_ID;
    x->queue_end = &x->queue;
    x->writing = true;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&x->changed, &attr);
    pthread_condattr_destroy(&attr);
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
    rc = handshake(x, err);
    if (rc)
        xlink_stop(x);
    else
        *out = x;
    return rc;
}

void xlink_stop(xlink *x)
{
    struct timespec deadline;

    if (!x)
        return;
    deadline = deadline_in(x->config.timeout_ms);
    pthread_mutex_lock(&x->lock);
    x->stopping = true;
    pthread_cond_broadcast(&x->changed);
    while (x->writing && wait_change(x, &deadline))
        ;
    pthread_mutex_unlock(&x->lock);
    transport_reset(x->t);
    if (!pthread_equal(x->reader, x->writer))
        pthread_join(x->reader, NULL);
    pthread_join(x->writer, NULL);
    for (event *e = x->queue, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    for (int i = 0; i < XLINK_MAX_STREAMS; i++) {
        x->streams[i].read_size = x->streams[i].write_size = 0;
        if (x->streams[i].used)
            drop_if_closed(&x->streams[i]);
    }
    pthread_mutex_destroy(&x->lock);
    pthread_cond_destroy(&x->changed);
    free(x);
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

static vpu_status open_stream(xlink *x, xlink_header *h, uint32_t *stream,
                              const struct timespec *deadline, vpu_error *err)
{
    bool ours = !x->config.device && xlink_host_allocates(x->config.layout);
    stream_entry *s = by_name(x, h->name);
    xlink_header answer;
    vpu_status rc;
    bool sent;

    if (s && s->write_size)
        return err_set(err, VPU_ERR_INVALID, "stream '%s' is open already",
                       h->name);
    h->stream = XLINK_NO_STREAM;
    if (ours) {
        if (!s)
            s = add_stream(x, h->name, new_stream_id(x));
        if (!s)
            return err_set(err, VPU_ERR_LIMIT, "%s: %d streams are open",
                           h->name, XLINK_MAX_STREAMS);
        h->stream = s->id;
        s->write_size = h->size;
    }
    rc = request(x, h, NULL, 0, deadline, &answer, &sent, err);
    if (!rc)
        rc = refused(&answer, err);
    s = by_name(x, h->name);
    if (!rc && !s)
        rc = err_set(err, VPU_ERR_LIMIT, "%s: stream id %u cannot be added",
                     h->name, answer.stream);
    if (s && (ours || !rc))
        s->write_size = rc ? 0 : h->size;
    if (s && rc)
        drop_if_closed(s);
    else if (s)
        *stream = s->id;
    return rc;
}

vpu_status xlink_open(xlink *x, const char *name, uint32_t write_size,
                      uint32_t *stream, unsigned timeout_ms, vpu_error *err)
{
    struct timespec deadline = deadline_in(timeout_ms);
    xlink_header h = {.event = XLINK_CREATE_STREAM};
    vpu_status rc;

    if (!*name || strlen(name) >= sizeof h.name)
        return err_set(err, VPU_ERR_INVALID,
                       "stream name of %zu bytes, expected 1 to %d",
                       strlen(name), XLINK_NAME_BYTES - 1);
    if (!write_size || write_size > UINT32_MAX - XLINK_SIZE_UNIT + 1)
        return err_set(err, VPU_ERR_INVALID,
                       "stream '%s': write size %u, expected 1 to %u", name,
                       write_size, UINT32_MAX - XLINK_SIZE_UNIT + 1);
    strcpy(h.name, name);
    h.size =
        (write_size + XLINK_SIZE_UNIT - 1) / XLINK_SIZE_UNIT * XLINK_SIZE_UNIT;
    pthread_mutex_lock(&x->lock);
    rc = open_stream(x, &h, stream, &deadline, err);
    pthread_mutex_unlock(&x->lock);
    return rc;
}

vpu_status xlink_find(xlink *x, const char *name, uint32_t *stream,
                      unsigned timeout_ms, vpu_error *err)
{
    struct timespec deadline = deadline_in(timeout_ms);
    vpu_status rc = VPU_OK;
    stream_entry *s;

    pthread_mutex_lock(&x->lock);
    while (!(s = by_name(x, name)) && !rc)
        if (x->over)
            rc = is_over(x, err);
        else if (!wait_change(x, &deadline) && !by_name(x, name))
            rc = err_set(err, VPU_ERR_LIMIT, "no stream '%s' within %u ms",
                         name, timeout_ms);
    if (s)
        *stream = s->id;
    pthread_mutex_unlock(&x->lock);
    return rc;
}

/* Until n more bytes may be on their way. */
static vpu_status wait_room(xlink *x, uint32_t stream, uint32_t n,
                            const struct timespec *deadline, vpu_error *err)
{
    for (;;) {
        stream_entry *s = by_id(x, stream);
        bool no_bound = s && !s->write_size && x->config.device;

        if (x->over)
            return is_over(x, err);
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
        if (!wait_change(x, deadline))
            return err_set(err, VPU_ERR_LIMIT,
                           "stream %u: no room for %u bytes, %llu bytes in %u "
                           "packets are not released",
                           stream, n, (unsigned long long)s->out_bytes,
                           s->out_packets);
    }
}

vpu_status xlink_write(xlink *x, uint32_t stream, const void *data, uint32_t n,
                       unsigned timeout_ms, vpu_error *err)
{
    struct timespec deadline = deadline_in(timeout_ms);
    xlink_header h = {.event = XLINK_WRITE, .stream = stream, .size = n};
    xlink_header answer;
    stream_entry *s;
    vpu_status rc;
    bool sent;

    pthread_mutex_lock(&x->lock);
    rc = wait_room(x, stream, n, &deadline, err);
    if (!rc) {
        rc = request(x, &h, data, n, &deadline, &answer, &sent, err);
        if (!rc)
            rc = refused(&answer, err);
        s = by_id(x, stream);
        /* A late ack still brings a release; what never left does not. */
        if (s && rc && (!sent || rc == VPU_ERR_MISMATCH) && s->out_packets) {
            s->out_packets--;
            s->out_bytes -= n;
        }
    }
    pthread_mutex_unlock(&x->lock);
    return rc;
}

vpu_status xlink_read(xlink *x, uint32_t stream, xlink_packet *out,
                      unsigned timeout_ms, vpu_error *err)
{
    struct timespec deadline = deadline_in(timeout_ms);
    vpu_status rc = VPU_OK;
    bool in_time = true;

    pthread_mutex_lock(&x->lock);
    for (;;) {
        stream_entry *s = by_id(x, stream);

        if (!s) {
            rc = not_open(stream, err);
        } else if (s->n_taken < s->n_in) {
            unsigned at = (s->first + s->n_taken++) % XLINK_MAX_PACKETS;

            *out = (xlink_packet){s->in[at].data, s->in[at].n};
        } else if (x->over) {
            rc = is_over(x, err);
        } else if (!in_time) {
            rc = err_set(err, VPU_ERR_LIMIT,
                         "stream %u: nothing arrived within %u ms", stream,
                         timeout_ms);
        } else {
            in_time = wait_change(x, &deadline);
            continue;
        }
        break;
    }
    pthread_mutex_unlock(&x->lock);
    return rc;
}

vpu_status xlink_release(xlink *x, uint32_t stream, unsigned timeout_ms,
                         vpu_error *err)
{
    struct timespec deadline = deadline_in(timeout_ms);
    xlink_header h = {.event = XLINK_READ_REL, .stream = stream}, answer;
    stream_entry *s;
    vpu_status rc;
    bool sent;

    pthread_mutex_lock(&x->lock);
    s = by_id(x, stream);
    if (!s) {
        rc = not_open(stream, err);
    } else if (!s->n_taken) {
        rc = err_set(err, VPU_ERR_INVALID,
                     "stream %u: no packet was read that could be released",
                     stream);
    } else {
        h.size = s->in[s->first].n;
        free(s->in[s->first].data);
        s->first = (s->first + 1) % XLINK_MAX_PACKETS;
        s->n_in--;
        s->n_taken--;
        rc = request(x, &h, NULL, 0, &deadline, &answer, &sent, err);
        if (!rc)
            rc = refused(&answer, err);
    }
    pthread_mutex_unlock(&x->lock);
    return rc;
}

static vpu_status wait_released(xlink *x, uint32_t stream,
                                const struct timespec *deadline, vpu_error *err)
{
    for (;;) {
        stream_entry *s = by_id(x, stream);

        if (x->over)
            return is_over(x, err);
        if (!s || !s->write_size)
            return not_open(stream, err);
        if (!s->out_packets)
            return VPU_OK;
        if (!wait_change(x, deadline))
            return err_set(err, VPU_ERR_LIMIT,
                           "closing stream %u: %llu bytes in %u packets are "
                           "not released",
                           stream, (unsigned long long)s->out_bytes,
                           s->out_packets);
    }
}

vpu_status xlink_close(xlink *x, uint32_t stream, unsigned timeout_ms,
                       vpu_error *err)
{
    struct timespec deadline = deadline_in(timeout_ms);
    xlink_header h = {.event = XLINK_CLOSE_STREAM, .stream = stream}, answer;
    stream_entry *s;
    vpu_status rc;
    bool sent;

    pthread_mutex_lock(&x->lock);
    rc = wait_released(x, stream, &deadline, err);
    if (!rc) {
        rc = request(x, &h, NULL, 0, &deadline, &answer, &sent, err);
        s = by_id(x, stream);
        /* Whatever the answer [S]. */
        if (!rc && s) {
            s->write_size = 0;
            drop_if_closed(s);
        }
        if (!rc)
            rc = refused(&answer, err);
    }
    pthread_mutex_unlock(&x->lock);
    return rc;
}

vpu_status xlink_reset(xlink *x, unsigned timeout_ms, vpu_error *err)
{
    struct timespec deadline = deadline_in(timeout_ms);
    xlink_header h = {.event = XLINK_RESET}, answer;
    vpu_error why;
    vpu_status rc;
    bool sent;

    pthread_mutex_lock(&x->lock);
    rc = request(x, &h, NULL, 0, &deadline, &answer, &sent, err);
    err_set(&why, VPU_ERR_IO, "the link was reset from here");
    end_link(x, &why);
    pthread_mutex_unlock(&x->lock);
    return rc;
}
