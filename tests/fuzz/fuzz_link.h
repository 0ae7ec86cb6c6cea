/* A link whose other end is made of a fuzzer's bytes: it acks requests, some of
 * them wrongly, and sends what a script says, event by event. */
#ifndef VPU_TESTS_FUZZ_FUZZ_LINK_H
#define VPU_TESTS_FUZZ_FUZZ_LINK_H

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "runtime/link/transport.h"
#include "runtime/link/xlink_wire.h"

enum { FUZZ_IDLE_MS = 3, FUZZ_HEAD = 8 };

typedef struct fuzz_link {
    transport base;
    xlink_layout layout;
    const uint8_t *data;
    size_t bytes, at;
    uint64_t bad; /* bit i: the answer to request i is wrong */
    uint8_t how;
    unsigned n_requests, idle;
    uint32_t next_id;
    uint64_t payload; /* of the event being written, still to come */
    bool cut;
    pthread_mutex_t lock;
    str in; /* what will be read */
    size_t in_at;
    /* One more event of the script into `in`; false: there is none. */
    bool (*script)(struct fuzz_link *l);
} fuzz_link;

static inline uint8_t fuzz_byte(fuzz_link *l)
{
    return l->at < l->bytes ? l->data[l->at++] : 0;
}

static inline uint32_t fuzz_word(fuzz_link *l)
{
    uint32_t low = fuzz_byte(l);

    return low | (uint32_t)fuzz_byte(l) << 8;
}

static inline void fuzz_event(fuzz_link *l, xlink_header *h,
                              const void *payload)
{
    uint8_t bytes[XLINK_HEADER_MAX];

    if (!h->response) {
        h->id = l->next_id++;
        h->flags = XLINK_FLAG_ACK;
    }
    if (xlink_encode(l->layout, h, bytes, sizeof bytes, NULL))
        return;
    str_add(&l->in, bytes, xlink_header_size(l->layout));
    if (h->event == XLINK_WRITE && !h->response && h->size)
        str_add(&l->in, payload, h->size);
}

static inline void fuzz_answer(fuzz_link *l, xlink_header *h)
{
    bool bad = l->bad >> (l->n_requests++ & 63) & 1;

    h->response = true;
    h->flags = XLINK_FLAG_ACK;
    h->dropped = h->can_be_served = 0;
    if (h->event == XLINK_CREATE_STREAM && h->stream == XLINK_NO_STREAM)
        h->stream = l->n_requests & 31;
    if (bad) {
        switch (l->how & 7) {
        case 0:
            return; /* none */
        case 1:
            h->flags = XLINK_FLAG_NACK;
            break;
        case 2:
            h->id++;
            break;
        case 3:
            h->stream = l->how;
            break;
        case 4:
            h->event = XLINK_PING;
            h->name[0] = 0;
            break;
        default:
            h->size = (uint32_t)l->how << 24;
        }
    }
    fuzz_event(l, h, NULL);
}

static inline vpu_status fuzz_write(transport *t, const void *buf, size_t n,
                                    size_t *put, unsigned timeout_ms,
                                    vpu_error *err)
{
    fuzz_link *l = (fuzz_link *)t;
    xlink_header h;

    (void)timeout_ms;
    *put = n;
    pthread_mutex_lock(&l->lock);
    l->idle = 0;
    if (l->payload) {
        l->payload -= n < l->payload ? n : l->payload;
    } else if (!xlink_decode(l->layout, buf, n, &h, err) && !h.response) {
        l->payload = h.event == XLINK_WRITE ? h.size : 0;
        fuzz_answer(l, &h);
    }
    pthread_mutex_unlock(&l->lock);
    return VPU_OK;
}

static inline vpu_status fuzz_read(transport *t, void *buf, size_t n,
                                   size_t *got, unsigned timeout_ms,
                                   vpu_error *err)
{
    fuzz_link *l = (fuzz_link *)t;
    struct timespec pause = {0, 1000000};

    for (;;) {
        bool end;

        pthread_mutex_lock(&l->lock);
        while (!l->cut && l->in.n - l->in_at < n && l->script(l))
            ;
        if (l->in.n - l->in_at >= n) {
            memcpy(buf, l->in.data + l->in_at, n);
            l->in_at += n;
            l->idle = 0;
            pthread_mutex_unlock(&l->lock);
            *got = n;
            return VPU_OK;
        }
        end = l->cut || (l->at >= l->bytes && ++l->idle > FUZZ_IDLE_MS);
        pthread_mutex_unlock(&l->lock);
        if (end)
            return err_set(err, VPU_ERR_IO, "the script is over");
        nanosleep(&pause, NULL);
        if (!timeout_ms--)
            return err_set(err, VPU_ERR_LIMIT, "nothing comes");
    }
}

static inline void fuzz_reset(transport *t)
{
    fuzz_link *l = (fuzz_link *)t;

    pthread_mutex_lock(&l->lock);
    l->cut = true;
    pthread_mutex_unlock(&l->lock);
}

static inline void fuzz_close(transport *t)
{
    (void)t;
}

/* False: too few bytes for a script. */
static inline bool fuzz_link_init(fuzz_link *l, const uint8_t *data, size_t n,
                                  bool (*script)(fuzz_link *l))
{
    static const transport_ops ops = {fuzz_read, fuzz_write, fuzz_reset,
                                      fuzz_close};

    if (n < FUZZ_HEAD)
        return false;
    *l = (fuzz_link){.base = {&ops},
                     .layout = (xlink_layout)(data[0] % XLINK_N_LAYOUTS),
                     .data = data,
                     .bytes = n,
                     .at = FUZZ_HEAD,
                     .how = data[1],
                     .next_id = XLINK_FIRST_ID,
                     .script = script};
    for (int i = 2; i < FUZZ_HEAD; i++)
        l->bad = l->bad << 8 | data[i];
    pthread_mutex_init(&l->lock, NULL);
    return true;
}

static inline void fuzz_link_end(fuzz_link *l)
{
    pthread_mutex_destroy(&l->lock);
    str_free(&l->in);
}

#endif
