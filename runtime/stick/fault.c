/* Names of faults, and a transport that does those of the link. The device's
 * end writes an event's header, then its payload, in calls of their own. */
#include "runtime/stick/fault.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "base/word.h"

static const struct {
    const char *name;
    uint32_t n;
    const char *about;
} table[] = {
#define STICK_FAULT(name, n, about) {#name, n, about},
#include "runtime/stick/fault.def"
};

static const char *fault_name(stick_fault_kind k, char out[32])
{
    size_t n = strlen(table[k].name);

    memcpy(out, table[k].name, n + 1);
    for (size_t i = 0; i < n; i++)
        out[i] = out[i] == '_' ? '-' : out[i];
    return out;
}

/* '-' and '_' are the same. */
static bool same_name(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != (b[i] == '_' ? '-' : b[i]))
            return false;
    return true;
}

vpu_status stick_fault_parse(const char *text, stick_fault *out, vpu_error *err)
{
    size_t length = strcspn(text, ":");
    unsigned long long n;
    str names = {0};
    char name[32];

    for (int k = 0; k < STICK_N_FAULTS; k++) {
        fault_name((stick_fault_kind)k, name);
        str_printf(&names, "%s%s", k ? ", " : "", name);
        if (strlen(name) != length || !same_name(name, text, length))
            continue;
        str_free(&names);
        *out = (stick_fault){(stick_fault_kind)k, table[k].n};
        if (!text[length])
            return VPU_OK;
        if (!str_to_u64(text + length + 1, &n) || n > UINT32_MAX)
            return err_set(err, VPU_ERR_INVALID,
                           "fault '%s': expected a number behind ':'", text);
        out->number = (uint32_t)n;
        return VPU_OK;
    }
    err_set(err, VPU_ERR_INVALID, "no fault '%.*s'; there are %s", (int)length,
            text, str_text(&names));
    str_free(&names);
    return VPU_ERR_INVALID;
}

const stick_fault *stick_fault_find(const stick_fault *list, uint32_t n,
                                    stick_fault_kind k)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].kind == k)
            return &list[i];
    return NULL;
}

/* --- the transport ------------------------------------------------------- */

enum { FOREIGN_TYPE = 0x7fffffff, FOREIGN_FLAG = 0x4000, OFF_BY = 0x40000000 };

typedef struct {
    transport base;
    transport *inner;
    xlink_layout layout;
    const stick_fault *list;
    uint32_t n;
    pthread_mutex_t lock;
    uint64_t bytes; /* that crossed, either way */
    bool gone;
    /* The writer's. */
    uint64_t sent;
    uint32_t payload;                /* bytes still to come of one */
    uint32_t counts[STICK_N_FAULTS]; /* of events a fault counts */
    uint32_t device_stream;          /* of deviceMonitor */
    bool mute;
    uint8_t held[XLINK_HEADER_MAX]; /* to go with its payload */
    uint32_t n_held;
    bool cut_last;
} faulty;

/* Whether this event is one from the N-th on of what the fault counts. */
static bool from_nth(faulty *f, stick_fault_kind k)
{
    const stick_fault *x = stick_fault_find(f->list, f->n, k);

    return x && ++f->counts[k] >= x->number;
}

static bool nth(faulty *f, stick_fault_kind k)
{
    const stick_fault *x = stick_fault_find(f->list, f->n, k);

    return x && ++f->counts[k] == x->number;
}

static void take_time(const faulty *f)
{
    const stick_fault *x =
        stick_fault_find(f->list, f->n, STICK_FAULT_slow_link);
    struct timespec t;

    if (!x)
        return;
    t = (struct timespec){x->number / 1000000,
                          (long)(x->number % 1000000) * 1000};
    nanosleep(&t, NULL);
}

/* Counts; how many of n may still cross, then the link is cut. */
static size_t crossing(faulty *f, size_t n)
{
    const stick_fault *x = stick_fault_find(f->list, f->n, STICK_FAULT_vanish);

    pthread_mutex_lock(&f->lock);
    if (x && f->bytes + n >= x->number) {
        n = f->bytes < x->number ? (size_t)(x->number - f->bytes) : 0;
        f->gone = true;
    }
    f->bytes += n;
    pthread_mutex_unlock(&f->lock);
    return n;
}

static bool is_gone(faulty *f)
{
    bool gone;

    pthread_mutex_lock(&f->lock);
    gone = f->gone;
    pthread_mutex_unlock(&f->lock);
    return gone;
}

static vpu_status unplugged(faulty *f, vpu_error *err)
{
    transport_reset(f->inner);
    return err_set(err, VPU_ERR_IO, "the stick vanished, as was asked for");
}

static vpu_status fault_read(transport *t, void *buf, size_t n, size_t *got,
                             unsigned timeout_ms, vpu_error *err)
{
    faulty *f = (faulty *)t;
    vpu_status st;

    if (is_gone(f))
        return unplugged(f, err);
    take_time(f);
    st = transport_read(f->inner, buf, n, got, timeout_ms, err);
    if (crossing(f, *got) < *got || is_gone(f))
        return unplugged(f, err);
    return st;
}

/* What becomes of a header; false: it is not sent. */
static bool alter_response(faulty *f, xlink_header *h)
{
    switch (h->event) {
    case XLINK_CREATE_STREAM:
        if (!strcmp(h->name, "deviceMonitor"))
            f->device_stream = h->stream;
        if (nth(f, STICK_FAULT_create_too_big)) {
            h->flags = XLINK_FLAG_SIZE_TOO_BIG;
            h->stream = XLINK_NO_STREAM;
        }
        if (nth(f, STICK_FAULT_create_nack))
            h->flags = XLINK_FLAG_NACK;
        return true;
    case XLINK_WRITE:
        if (nth(f, STICK_FAULT_write_nack))
            h->flags = XLINK_FLAG_NACK;
        return !(from_nth(f, STICK_FAULT_write_no_ack) ||
                 (h->stream == f->device_stream &&
                  from_nth(f, STICK_FAULT_no_watchdog_ack)));
    case XLINK_CLOSE_STREAM:
        if (from_nth(f, STICK_FAULT_close_nack))
            h->flags = XLINK_FLAG_NACK;
        return true;
    case XLINK_RESET:
        return !from_nth(f, STICK_FAULT_no_reset);
    default:
        return true;
    }
}

static bool alter(faulty *f, uint8_t *bytes, size_t n)
{
    size_t flags = f->layout == XLINK_LAYOUT_C ? 88 : 80;
    xlink_header h;
    vpu_error err;

    if (xlink_decode(f->layout, bytes, n, &h, &err))
        return true;
    if (h.response) {
        if (!alter_response(f, &h))
            return false;
        if (nth(f, STICK_FAULT_wrong_id))
            h.id += OFF_BY;
    } else if (h.event == XLINK_WRITE) {
        if (nth(f, STICK_FAULT_unknown_stream))
            h.stream += OFF_BY;
        f->payload = h.size;
    }
    xlink_encode(f->layout, &h, bytes, n, &err);
    if (nth(f, STICK_FAULT_corrupt_header))
        word_set(bytes + 4, FOREIGN_TYPE);
    if (nth(f, STICK_FAULT_corrupt_flags))
        word_set(bytes + flags, FOREIGN_FLAG);
    return true;
}

/* Bytes as they are, within what vanish and stall leave. */
static vpu_status pass(faulty *f, const uint8_t *p, size_t n,
                       unsigned timeout_ms, vpu_error *err)
{
    const stick_fault *stall =
        stick_fault_find(f->list, f->n, STICK_FAULT_stall);
    size_t may = crossing(f, n), put;
    vpu_status st = VPU_OK;

    if (stall && f->sent + may >= stall->number) {
        may = f->sent < stall->number ? (size_t)(stall->number - f->sent) : 0;
        f->mute = true;
    }
    f->sent += may;
    if (may)
        st = transport_write(f->inner, p, may, &put, timeout_ms, err);
    return is_gone(f) ? unplugged(f, err) : st;
}

static vpu_status send_header(faulty *f, const uint8_t *p, size_t n,
                              unsigned timeout_ms, vpu_error *err)
{
    uint8_t bytes[XLINK_HEADER_MAX];

    memcpy(bytes, p, n);
    if (!alter(f, bytes, n))
        return VPU_OK;
    if (f->payload && from_nth(f, STICK_FAULT_one_transfer)) {
        memcpy(f->held, bytes, n);
        f->n_held = (uint32_t)n;
        return VPU_OK;
    }
    f->cut_last = f->payload && nth(f, STICK_FAULT_short_packet);
    return pass(f, bytes, n, timeout_ms, err);
}

static vpu_status send_payload(faulty *f, const uint8_t *p, size_t n,
                               unsigned timeout_ms, vpu_error *err)
{
    uint8_t *both = NULL;
    vpu_status st;

    f->payload -= n < f->payload ? (uint32_t)n : f->payload;
    if (f->n_held) {
        both = malloc(f->n_held + n);
        if (!both)
            return err_set(err, VPU_ERR_NOMEM, "no memory for a transfer");
        memcpy(both, f->held, f->n_held);
        memcpy(both + f->n_held, p, n);
        n += f->n_held;
        f->n_held = 0;
    } else if (f->cut_last && !f->payload) {
        n--;
        st = pass(f, p, n, timeout_ms, err);
        f->mute = true;
        return st;
    }
    st = pass(f, both ? both : p, n, timeout_ms, err);
    free(both);
    return st;
}

static vpu_status fault_write(transport *t, const void *buf, size_t n,
                              size_t *put, unsigned timeout_ms, vpu_error *err)
{
    faulty *f = (faulty *)t;

    *put = n;
    if (is_gone(f))
        return unplugged(f, err);
    if (f->mute)
        return VPU_OK;
    take_time(f);
    return f->payload ? send_payload(f, buf, n, timeout_ms, err)
                      : send_header(f, buf, n, timeout_ms, err);
}

static void fault_reset(transport *t)
{
    transport_reset(((faulty *)t)->inner);
}

static void fault_close(transport *t)
{
    pthread_mutex_destroy(&((faulty *)t)->lock);
    free(t);
}

static const transport_ops fault_ops = {fault_read, fault_write, fault_reset,
                                        fault_close};

vpu_status stick_fault_wrap(transport *inner, xlink_layout layout,
                            const stick_fault *list, uint32_t n,
                            transport **out, vpu_error *err)
{
    faulty *f = calloc(1, sizeof *f);

    if (!f)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a link");
    f->base.ops = &fault_ops;
    f->inner = inner;
    f->layout = layout;
    f->list = list;
    f->n = n;
    f->device_stream = XLINK_NO_STREAM;
    pthread_mutex_init(&f->lock, NULL);
    *out = &f->base;
    return VPU_OK;
}
