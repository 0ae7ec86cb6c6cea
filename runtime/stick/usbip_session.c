/* Transfers wait in queues: those to the host until the stick writes, those to
 * the stick until it reads. One thread reads the socket (usbip_session_run);
 * another one is at the stick's end of the link. */
#include "runtime/stick/usbip_session.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/clock.h"
#include "runtime/stick/usbip_wire.h"
#include "runtime/usb/device.h"
#include "runtime/usb/firmware.h"

enum {
    TICK_MS = 50,
    PEER_S = 5, /* for the rest of a message, or for a message to be taken */
    MAX_URB = 16 << 20,
    MAX_FIRMWARE = 64 << 20,
    /* A ROM starts at the last command. Where commands are not known it is a
     * pause that tells the end [I]. */
    QUIET_MS = 200,
    /* Before it leaves the bus a stick serves the host until that is quiet, so
     * that its last answer arrives and what waits can be taken back. */
    QUIET_END_MS = 50,
    LINGER_MS = 500,
    HANG_UP_MS = 2000 /* for a host to close its end */
};

typedef struct urb {
    struct urb *next;
    uint32_t seqnum, flags, length, at; /* at: bytes moved */
    uint8_t endpoint;                   /* with direction, as in descriptors */
    uint8_t data[];
} urb;

typedef struct {
    urb *first, **last;
} urb_queue;

/* Of the ROM: the longest stream that may be a question, the longest answer. */
enum { MAX_ASKED = 4096, MAX_ANSWER = 64 };

struct usbip_session {
    transport base;
    int fd;
    gadget *g;
    usbip_faults faults;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    urb_queue in, out, parked; /* parked: endpoints nobody serves */
    /* Behind a short packet that a URB did not allow nothing moves until the
     * host has taken back what else it queued, as on hardware. */
    bool in_halted;
    bool in_stalled, out_stalled;
    uint64_t in_bytes, out_bytes;
    bool gone, cut, over, leaving;
    const uint8_t *message; /* being written by the stick; NULL = none */
    size_t message_n, message_at;
    str firmware;
    int64_t last_firmware;      /* when, in ms */
    bool asked;                 /* the ROM, something */
    uint8_t answer[MAX_ANSWER]; /* of the ROM */
};

static void queue_init(urb_queue *q)
{
    q->first = NULL;
    q->last = &q->first;
}

static void queue_add(urb_queue *q, urb *u)
{
    u->next = NULL;
    *q->last = u;
    q->last = &u->next;
}

static urb *queue_find(const urb_queue *q, uint32_t seqnum)
{
    urb *u = q->first;

    while (u && u->seqnum != seqnum)
        u = u->next;
    return u;
}

/* By the URB itself: numbers are the host's, and may repeat. */
static void queue_remove(urb_queue *q, urb *u)
{
    urb **at = &q->first;

    while (*at != u)
        at = &(*at)->next;
    *at = u->next;
    if (q->last == &u->next)
        q->last = at;
}

static void queue_free(urb_queue *q)
{
    while (q->first) {
        urb *u = q->first;

        q->first = u->next;
        free(u);
    }
    queue_init(q);
}

static bool send_all(usbip_session *s, const void *bytes, size_t n)
{
    const char *p = bytes;

    while (n && !s->gone) {
        ssize_t put = send(s->fd, p, n, MSG_NOSIGNAL);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            s->gone = true;
            break;
        }
        p += put;
        n -= (size_t)put;
    }
    return !s->gone;
}

static void reply(usbip_session *s, const usbip_reply *r, const void *data,
                  size_t n)
{
    uint8_t head[USBIP_HEADER_BYTES];

    usbip_put_reply(head, r);
    if (send_all(s, head, sizeof head) && n)
        send_all(s, data, n);
}

/* Give a URB back. */
static void complete(usbip_session *s, urb_queue *q, urb *u, int32_t status)
{
    bool in = u->endpoint & 0x80;

    queue_remove(q, u);
    reply(s,
          &(const usbip_reply){.command = USBIP_RET_SUBMIT,
                               .seqnum = u->seqnum,
                               .status = status,
                               .moved = u->at},
          u->data, in ? u->at : 0);
    free(u);
    pthread_cond_broadcast(&s->changed);
}

/* One packet of the message into u. True: u is done, with *status. */
static bool move_packet(usbip_session *s, urb *u, int32_t *status)
{
    size_t packet = gadget_packet(s->g), left = s->message_n - s->message_at;
    size_t n = left < packet ? left : packet;

    *status = 0;
    if (s->in_bytes >= s->faults.stall_in) {
        s->in_stalled = true;
        *status = USBIP_EPIPE;
        return true;
    }
    if (n > u->length - u->at) { /* lost, as on the bus */
        *status = USBIP_EOVERFLOW;
        n = u->length - u->at;
        memcpy(u->data + u->at, s->message + s->message_at, n);
        u->at += (uint32_t)n;
        s->message_at += left < packet ? left : packet;
        return true;
    }
    memcpy(u->data + u->at, s->message + s->message_at, n);
    u->at += (uint32_t)n;
    s->message_at += n;
    s->in_bytes += n;
    if (n < packet && u->at < u->length && (u->flags & USBIP_SHORT_NOT_OK)) {
        *status = USBIP_EREMOTEIO;
        s->in_halted = true;
        return true;
    }
    return n < packet || u->at == u->length;
}

/* A transfer that the kernel split comes as URBs that must not be short and a
 * last one that may; served before all are there, what follows a short one
 * could not be told from the next transfer. */
static bool is_whole(const urb *u)
{
    while (u && (u->flags & USBIP_SHORT_NOT_OK))
        u = u->next;
    return u;
}

static void pump_in(usbip_session *s)
{
    while (s->in.first && s->message && !s->in_halted && !s->in_stalled &&
           s->message_at < s->message_n) {
        urb *u = s->in.first;
        int32_t status;

        if (!is_whole(u))
            break;
        if (move_packet(s, u, &status))
            complete(s, &s->in, u, status);
    }
    /* A stalled endpoint answers everything so. */
    while (s->in_stalled && s->in.first)
        complete(s, &s->in, s->in.first, USBIP_EPIPE);
    if (s->message && s->message_at == s->message_n) {
        s->message = NULL;
        pthread_cond_broadcast(&s->changed);
    }
}

static void pump_out(usbip_session *s)
{
    if (s->out_bytes >= s->faults.stall_out && s->out.first)
        s->out_stalled = true;
    while (s->out_stalled && s->out.first)
        complete(s, &s->out, s->out.first, USBIP_EPIPE);
}

/* False: the time is up. With the lock. */
static bool wait_change(usbip_session *s, int64_t deadline)
{
    struct timespec ts = {deadline / 1000, deadline % 1000 * 1000000};

    return !pthread_cond_timedwait(&s->changed, &s->lock, &ts);
}

static vpu_status unplugged(const usbip_session *s, vpu_error *err)
{
    return err_set(err, VPU_ERR_IO, "the USB host %s",
                   s->cut ? "was left: the link was reset"
                          : "has let go of the stick");
}

static vpu_status link_read(transport *t, void *buf, size_t n, size_t *got,
                            unsigned timeout_ms, vpu_error *err)
{
    usbip_session *s = (usbip_session *)t;
    int64_t deadline = clock_ms() + timeout_ms;
    vpu_status st = VPU_OK;

    pthread_mutex_lock(&s->lock);
    while (*got < n && !st) {
        urb *u = s->out.first;

        if (u) {
            size_t left = u->length - u->at;
            size_t k = n - *got < left ? n - *got : left;

            memcpy((char *)buf + *got, u->data + u->at, k);
            *got += k;
            u->at += (uint32_t)k;
            s->out_bytes += k;
            if (u->at == u->length)
                complete(s, &s->out, u, 0);
            pump_out(s);
        } else if (s->gone || s->cut) {
            st = unplugged(s, err);
        } else if (!wait_change(s, deadline) && !s->out.first) {
            st = err_set(err, VPU_ERR_LIMIT,
                         "%zu of %zu bytes arrived within %u ms", *got, n,
                         timeout_ms);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static vpu_status link_write(transport *t, const void *buf, size_t n,
                             size_t *put, unsigned timeout_ms, vpu_error *err)
{
    usbip_session *s = (usbip_session *)t;
    int64_t deadline = clock_ms() + timeout_ms;
    vpu_status st = VPU_OK;

    if (!n)
        return VPU_OK;
    pthread_mutex_lock(&s->lock);
    s->message = buf;
    s->message_n = n;
    s->message_at = 0;
    pump_in(s);
    while (s->message && !st) {
        if (s->gone || s->cut)
            st = unplugged(s, err);
        else if (!wait_change(s, deadline) && s->message)
            st = err_set(err, VPU_ERR_LIMIT,
                         "%zu of %zu bytes were taken within %u ms",
                         s->message_at, n, timeout_ms);
    }
    *put = s->message_at;
    s->message = NULL;
    pthread_mutex_unlock(&s->lock);
    return st;
}

static void link_reset(transport *t)
{
    usbip_session *s = (usbip_session *)t;

    pthread_mutex_lock(&s->lock);
    s->cut = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void link_close(transport *t)
{
    (void)t;
}

usbip_session *usbip_session_new(int fd, gadget *g, const usbip_faults *faults)
{
    static const transport_ops ops = {link_read, link_write, link_reset,
                                      link_close};
    struct timeval tv = {.tv_sec = PEER_S};
    usbip_session *s = calloc(1, sizeof *s);
    pthread_condattr_t attr;

    if (!s) {
        close(fd);
        return NULL;
    }
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv);
    s->base.ops = &ops;
    s->fd = fd;
    s->g = g;
    s->faults = *faults;
    queue_init(&s->in);
    queue_init(&s->out);
    queue_init(&s->parked);
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &attr);
    pthread_condattr_destroy(&attr);
    return s;
}

void usbip_session_free(usbip_session *s)
{
    if (!s)
        return;
    close(s->fd);
    queue_free(&s->in);
    queue_free(&s->out);
    queue_free(&s->parked);
    str_free(&s->firmware);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    free(s);
}

transport *usbip_session_link(usbip_session *s)
{
    return &s->base;
}

void usbip_session_over(usbip_session *s)
{
    pthread_mutex_lock(&s->lock);
    s->over = true;
    pthread_mutex_unlock(&s->lock);
}

size_t usbip_session_firmware(const usbip_session *s, uint64_t *hash)
{
    if (hash)
        *hash = XXH64(s->firmware.data, s->firmware.n, 0);
    return s->firmware.n;
}

static bool receive(usbip_session *s, void *buf, size_t n)
{
    char *p = buf;

    while (n) {
        ssize_t got = recv(s->fd, p, n, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

/* With the lock. */
static void control(usbip_session *s, const usbip_request *r)
{
    enum { CLEAR_FEATURE = 1, ENDPOINT = 2 };
    uint8_t answer[GADGET_REPLY_MAX];
    int n = gadget_control(s->g, r->setup, answer);

    if (n > 0 && (uint32_t)n > r->length)
        n = (int)r->length;
    if (r->setup[0] == ENDPOINT && r->setup[1] == CLEAR_FEATURE) {
        bool in = r->setup[4] & 0x80;

        *(in ? &s->in_stalled : &s->out_stalled) = false;
        *(in ? &s->faults.stall_in : &s->faults.stall_out) = UINT64_MAX;
    }
    if (n == GADGET_STALL)
        reply(s,
              &(const usbip_reply){.command = USBIP_RET_SUBMIT,
                                   .seqnum = r->seqnum,
                                   .status = USBIP_EPIPE},
              NULL, 0);
    else
        reply(s,
              &(const usbip_reply){.command = USBIP_RET_SUBMIT,
                                   .seqnum = r->seqnum,
                                   .moved = r->in ? (uint32_t)n : r->length},
              answer, r->in ? (size_t)n : 0);
}

static uint8_t nibble(char c)
{
    return (uint8_t)(c >= '0' && c <= '9'   ? c - '0'
                     : c >= 'a' && c <= 'f' ? c - 'a' + 10
                     : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                            : 0);
}

/* A short stream of commands that ends with one that reads memory and starts
 * nothing: how hosts ask an unbooted stick for its serial number [S]. What else
 * there may be in its memory is not known: it is 0. With the lock. */
static void answer_reads(usbip_session *s)
{
    const char *serial = s->g->serial ? s->g->serial : "";
    firmware_info info;

    if (s->firmware.n > MAX_ASKED || s->message ||
        firmware_scan((uint8_t *)s->firmware.data, s->firmware.n, &info,
                      NULL) ||
        info.complete || info.end != s->firmware.n || !info.reads ||
        info.reads > MAX_ANSWER)
        return;
    memset(s->answer, 0, sizeof s->answer);
    for (size_t i = 0; i < info.reads && serial[2 * i] && serial[2 * i + 1];
         i++)
        s->answer[i] =
            (uint8_t)(nibble(serial[2 * i]) << 4 | nibble(serial[2 * i + 1]));
    s->message = s->answer;
    s->message_n = info.reads;
    s->message_at = 0;
    s->firmware.n = 0;
    s->asked = true;
    pump_in(s);
}

/* Firmware, which the ROM takes as fast as it comes, but not what follows it.
 * With the lock. */
static void collect(usbip_session *s, urb *u)
{
    static const char magic[] = "MA2x";
    size_t room;

    /* Behind a question the ROM goes on with the same stream, or begins with
     * another one. */
    if (s->asked && u->length >= 4 && !memcmp(u->data, magic, 4))
        s->firmware.n = 0;
    else if (s->asked && !s->firmware.n)
        str_puts(&s->firmware, magic);
    room = s->leaving ? 0 : MAX_FIRMWARE - s->firmware.n;

    str_add(&s->firmware, u->data, u->length < room ? u->length : room);
    s->last_firmware = clock_ms();
    u->at = u->length;
    complete(s, &s->out, u, 0);
    answer_reads(s);
}

static bool on_submit(usbip_session *s, const usbip_request *r)
{
    urb *u;

    if (r->length > MAX_URB)
        return false;
    u = malloc(sizeof *u + r->length);
    if (!u)
        return false;
    *u = (urb){.seqnum = r->seqnum,
               .flags = r->flags,
               .length = r->length,
               .endpoint = (uint8_t)(r->endpoint | (r->in ? 0x80 : 0))};
    if (!r->in && !receive(s, u->data, u->length)) {
        free(u);
        return false;
    }
    pthread_mutex_lock(&s->lock);
    if (!r->endpoint) {
        control(s, r);
        free(u);
    } else if (u->endpoint == USB_OUT) {
        queue_add(&s->out, u);
        if (!s->g->booted)
            collect(s, u);
        else if (!u->length)
            complete(s, &s->out, u, 0);
        else
            pump_out(s);
    } else if (u->endpoint == USB_IN) {
        queue_add(&s->in, u);
        pump_in(s);
    } else {
        queue_add(&s->parked, u);
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return true;
}

/* A URB that has moved something is given back with it, not thrown away. */
static void on_unlink(usbip_session *s, const usbip_request *r)
{
    urb_queue *queues[] = {&s->in, &s->out, &s->parked};
    int32_t status = 0;

    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < sizeof queues / sizeof *queues; i++) {
        urb *u = queue_find(queues[i], r->victim);

        if (!u)
            continue;
        if (u->at) {
            complete(s, queues[i], u, 0);
        } else {
            status = USBIP_ECONNRESET;
            queue_remove(queues[i], u);
            free(u);
        }
    }
    if (!s->in.first)
        s->in_halted = false;
    reply(s,
          &(const usbip_reply){.command = USBIP_RET_UNLINK,
                               .seqnum = r->seqnum,
                               .status = status},
          NULL, 0);
    pthread_mutex_unlock(&s->lock);
}

/* False: the peer is gone, or is no kernel. */
static bool serve_one(usbip_session *s)
{
    uint8_t bytes[USBIP_HEADER_BYTES];
    usbip_request r;

    if (!receive(s, bytes, sizeof bytes))
        return false;
    r = usbip_get_request(bytes);
    if (r.endpoint > 15)
        return false;
    if (r.command == USBIP_CMD_SUBMIT)
        return on_submit(s, &r);
    if (r.command != USBIP_CMD_UNLINK)
        return false;
    on_unlink(s, &r);
    return true;
}

/* Whether the ROM starts what it has got. */
static bool boots(usbip_session *s)
{
    firmware_info info;
    vpu_status st;

    if (s->g->booted || s->firmware.n < 8 || s->faults.no_boot)
        return false;
    st = firmware_scan((uint8_t *)s->firmware.data, s->firmware.n, &info, NULL);
    return st ? memcmp(s->firmware.data, "MA2x", 4) == 0 &&
                    clock_ms() - s->last_firmware > QUIET_MS
              : info.complete;
}

/* Linux's vhci-hcd loses a URB that is submitted and cancelled while it ends
 * the connection, and whoever cancelled it waits in the kernel for good: so a
 * host that has something to take back does that first. */
static void linger(usbip_session *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    int64_t deadline = clock_ms() + LINGER_MS;
    bool idle = false;

    pthread_mutex_lock(&s->lock);
    s->leaving = true;
    pthread_mutex_unlock(&s->lock);
    while (!idle && clock_ms() < deadline) {
        int ready = poll(&p, 1, QUIET_END_MS);

        if (ready > 0 && !serve_one(s))
            return;
        pthread_mutex_lock(&s->lock);
        idle = !ready && !s->in.first && !s->out.first;
        pthread_mutex_unlock(&s->lock);
    }
}

/* For the same reason its sends must not fail before it has seen the end: its
 * thread that sends ends with the first that does. */
void usbip_hang_up(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int64_t deadline = clock_ms() + HANG_UP_MS, left;
    char unread[4096];

    shutdown(fd, SHUT_WR);
    while ((left = deadline - clock_ms()) > 0 && poll(&p, 1, (int)left) > 0 &&
           recv(fd, unread, sizeof unread, MSG_DONTWAIT) > 0)
        ;
    shutdown(fd, SHUT_RDWR);
}

static void say_gone(usbip_session *s)
{
    pthread_mutex_lock(&s->lock);
    s->gone = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

usbip_end usbip_session_run(usbip_session *s, const _Atomic bool *stop,
                            void (*tick)(void *user), void *user)
{
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    usbip_end end = USBIP_GONE;
    bool over = false;

    while (!over) {
        int ready = poll(&p, 1, TICK_MS);

        if (ready > 0 && !serve_one(s))
            break;
        if (!ready && tick)
            tick(user);
        pthread_mutex_lock(&s->lock);
        if (s->over)
            end = USBIP_ENDED, over = true;
        else if (s->gone)
            over = true;
        pthread_mutex_unlock(&s->lock);
        if (over)
            break;
        if (s->firmware.n >= s->faults.boot_unplug)
            break;
        if (boots(s))
            end = USBIP_BOOTED, over = true;
        else if (stop && *stop)
            end = USBIP_STOPPED, over = true;
    }
    if (end == USBIP_BOOTED || end == USBIP_ENDED)
        linger(s);
    say_gone(s);
    usbip_hang_up(s->fd);
    return end;
}
