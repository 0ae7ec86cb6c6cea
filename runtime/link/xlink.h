/* The XLink protocol over a link of bytes: streams, acks, flow control. The
 * protocol is symmetric; the role decides who pings and who names streams.
 *
 * Functions may be called from any thread; xlink_stop when no other call is in
 * progress. Each waits at most timeout_ms and fails with
 *
 * VPU_ERR_LIMIT     the time is up; the link goes on, a late answer is ignored
 * VPU_ERR_IO        the link failed, was reset or is being stopped; the message
 *                   says why, the same for all calls
 * VPU_ERR_INVALID   the stream is not open, or what the function says
 * VPU_ERR_MISMATCH  the other end refused
 * VPU_ERR_NOMEM     out of memory, here or (xlink_open) there */
#ifndef VPU_RUNTIME_LINK_XLINK_H
#define VPU_RUNTIME_LINK_XLINK_H

#include <stdatomic.h>

#include "runtime/link/transport.h"
#include "runtime/link/xlink_wire.h"

typedef struct xlink xlink;

/* Told of every event that crosses the link, in order, before it is sent and
 * when it has arrived. Called with the link's lock held, from its threads: it
 * must not call the link. */
typedef struct {
    void (*seen)(void *user, bool sent, const xlink_header *h,
                 const void *payload, uint32_t n);
    void *user;
} xlink_watch;

typedef struct {
    xlink_layout layout;
    bool device;         /* else the host */
    unsigned timeout_ms; /* for the PING, and for the rest of an event once its
                            first byte is there or is sent */
    uint32_t max_packet; /* bytes; a larger one fails the link */
    unsigned ping_ms;    /* how long a device waits for the PING; 0 = as
                            timeout_ms */
    unsigned stop_ms;    /* how long xlink_stop sends what is queued; 0 = as
                            timeout_ms */
    const atomic_bool *stop;  /* set: a device no longer waits for the PING */
    const xlink_watch *watch; /* NULL = nobody; borrowed */
} xlink_config;

typedef struct {
    const void
        *data; /* owned by the link, until released; NULL if bytes is 0 */
    uint32_t bytes;
} xlink_packet;

/* Start the threads; the host sends PING and waits for the answer, the device
 * for the PING. t stays the caller's, who closes it after xlink_stop, or after
 * a failure; nobody else may use it meanwhile. */
vpu_status xlink_start(transport *t, const xlink_config *config, xlink **out,
                       vpu_error *err);
/* Send what is queued, at most stop_ms long, cut the link, free all,
 * packets too. NULL is fine. */
void xlink_stop(xlink *x);

/* Open our writing direction of the stream of that name, made if there is none.
 * write_size, 1 to 0xffffffc0, is rounded up to 64 and bounds the bytes on
 * their way. VPU_ERR_LIMIT also when 32 streams are open. */
vpu_status xlink_open(xlink *x, const char *name, uint32_t write_size,
                      uint32_t *stream, unsigned timeout_ms, vpu_error *err);
/* Send a CREATE_STREAM for a stream that is open already, and say what the
 * other end answers: whatever its flags, it is no error, and changes nothing
 * here. For asking a device what it does. size is sent as it is. */
vpu_status xlink_ask_create(xlink *x, const char *name, uint32_t size,
                            xlink_header *answer, unsigned timeout_ms,
                            vpu_error *err);
/* Wait until there is a stream of that name, opened by either side. */
vpu_status xlink_find(xlink *x, const char *name, uint32_t *stream,
                      unsigned timeout_ms, vpu_error *err);

/* Wait for room, send, wait for the ack: it has arrived, but not been read.
 * VPU_ERR_INVALID: more bytes than the stream's write size. A device may write
 * to a stream it has not opened; then only the 64 packets are a bound. */
vpu_status xlink_write(xlink *x, uint32_t stream, const void *data, uint32_t n,
                       unsigned timeout_ms, vpu_error *err);
/* Packets written that the other end has not released; 0 if there is no such
 * stream. */
unsigned xlink_unreleased(xlink *x, uint32_t stream);
/* The oldest packet not read yet; several may be read before one is released.
 * What arrived can be read even when the link is gone. */
vpu_status xlink_read(xlink *x, uint32_t stream, xlink_packet *out,
                      unsigned timeout_ms, vpu_error *err);
/* The packet not read yet that arrived first, of whatever stream. */
vpu_status xlink_read_any(xlink *x, uint32_t *stream, xlink_packet *out,
                          unsigned timeout_ms, vpu_error *err);
/* False: no such stream is open. */
bool xlink_stream_name(xlink *x, uint32_t stream, char out[XLINK_NAME_BYTES]);
/* Free the oldest packet that was read, tell the other end.
 * VPU_ERR_INVALID: none was. */
vpu_status xlink_release(xlink *x, uint32_t stream, unsigned timeout_ms,
                         vpu_error *err);
/* Wait until all we wrote is released, then close our direction. The stream is
 * gone, with its packets, if the other end has not opened its own. A refusal is
 * answered by trying again, a few times. */
vpu_status xlink_close(xlink *x, uint32_t stream, unsigned timeout_ms,
                       vpu_error *err);
/* Fail the link from here: calls in progress and later ones say why. */
void xlink_fail(xlink *x, const vpu_error *why);
/* Whether the other end sent RESET. */
bool xlink_was_reset(xlink *x);
/* End the session: the device reboots. Later calls fail. */
vpu_status xlink_reset(xlink *x, unsigned timeout_ms, vpu_error *err);

#endif
