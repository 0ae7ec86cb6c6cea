/* What the threads of a link (xlink.c) and the calls of its users
 * (xlink_calls.c) share. All with the link's lock held. */
#ifndef VPU_RUNTIME_LINK_XLINK_PRIV_H
#define VPU_RUNTIME_LINK_XLINK_PRIV_H

#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "runtime/link/xlink.h"

typedef struct {
    bool used, done;
    uint32_t id;
    xlink_event event;
    xlink_header answer;
} xlink_pending;

typedef struct {
    bool used;
    char name[XLINK_NAME_BYTES];
    uint32_t id, read_size, write_size; /* sizes: 0 = direction not open */
    uint64_t out_bytes;
    unsigned out_packets; /* written, not released */
    unsigned first, n_in, n_taken;
    struct {
        void *data;
        uint32_t bytes;
        uint64_t seq;        /* of arrival, over all streams */
    } in[XLINK_MAX_PACKETS]; /* a ring, the oldest at first */
} xlink_stream;

typedef struct xlink_queued {
    struct xlink_queued *next;
    uint8_t header[XLINK_HEADER_MAX];
    uint32_t bytes;
    uint8_t payload[];
} xlink_queued;

struct xlink {
    transport *transport;
    xlink_config config;
    pthread_mutex_t lock;   /* all below */
    pthread_cond_t changed; /* something the calls wait for */
    pthread_cond_t work;    /* for the writer */
    pthread_t reader, writer;
    bool connected, over, stopping, writing, was_reset;
    vpu_error why; /* when over */
    uint32_t next_id, last_stream;
    uint64_t next_seq;
    xlink_pending pending[XLINK_MAX_IN_FLIGHT];
    xlink_stream streams[XLINK_MAX_STREAMS];
    xlink_queued *queue, **queue_end;
    unsigned n_queue;
};

/* False: the time is up. */
bool xlink_wait(xlink *x, const struct timespec *deadline);
/* The first reason stays. */
void xlink_end(xlink *x, const vpu_error *why);
vpu_status xlink_over(const xlink *x, vpu_error *err); /* says why */

xlink_stream *xlink_by_id(xlink *x, uint32_t id);
xlink_stream *xlink_by_name(xlink *x, const char *name);
/* NULL: no room, or the id is another stream's. */
xlink_stream *xlink_add_stream(xlink *x, const char *name, uint32_t id);
uint32_t xlink_new_id(xlink *x);
void xlink_drop_if_closed(xlink_stream *s);

/* A request with its payload of n bytes, and what came of it. */
typedef struct {
    xlink_header header; /* xlink_request gives it its id and flags */
    const void *payload;
    uint32_t n;
    xlink_header answer;
    bool sent; /* the peer may have got it */
} xlink_exchange;

/* Send a request and wait for its answer. */
vpu_status xlink_request(xlink *x, xlink_exchange *e,
                         const struct timespec *deadline, vpu_error *err);

#endif
