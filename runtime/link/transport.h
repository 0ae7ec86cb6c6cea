/* A two-way stream of bytes between the two ends of a link: what USB's bulk
 * pipes are to a stick, and sockets to a virtual one.
 *
 * No call waits longer than its time-out. One thread may read while another
 * writes; transport_reset may be called from any thread meanwhile and ends
 * both. Writing to a peer that is gone is an error, never a signal. */
#ifndef VPU_RUNTIME_LINK_TRANSPORT_H
#define VPU_RUNTIME_LINK_TRANSPORT_H

#include <stddef.h>

#include "base/err.h"

typedef struct transport transport;
typedef struct transport_listener transport_listener;

/* What an implementation gives; the functions below check and call it. */
typedef struct {
    vpu_status (*read)(transport *t, void *buf, size_t n, size_t *got,
                       unsigned timeout_ms, vpu_error *err);
    vpu_status (*write)(transport *t, const void *buf, size_t n, size_t *put,
                        unsigned timeout_ms, vpu_error *err);
    void (*reset)(transport *t);
    void (*close)(transport *t);
} transport_ops;
/* The first member of every implementation's own structure. */
struct transport {
    const transport_ops *ops;
};

/* Read exactly n bytes. *got (never NULL) is how many arrived, n on success;
 * what arrived before an error is in buf and will not come again. A time-out
 * of 0 takes only what is there.
 *
 * VPU_ERR_LIMIT  the time is up
 * VPU_ERR_IO     the peer closed its writing half, or the link failed or was
 *                reset */
vpu_status transport_read(transport *t, void *buf, size_t n, size_t *got,
                          unsigned timeout_ms, vpu_error *err);

/* Write n bytes, *put of which are gone (n on success). A call is a transfer of
 * its own where the medium has such.
 *
 * VPU_ERR_LIMIT  the time is up: the peer does not read
 * VPU_ERR_IO     the peer is gone, or the link failed or was reset */
vpu_status transport_write(transport *t, const void *buf, size_t n, size_t *put,
                           unsigned timeout_ms, vpu_error *err);

/* Cut the link: calls in progress and later ones, of both ends, fail, reads
 * when what had arrived is used up. */
void transport_reset(transport *t);
/* Its file descriptor when it is a socket, from connect, accept or pair; else
 * -1. It stays the link's. */
int transport_socket(const transport *t);
/* Free it; no call may be in progress. NULL is fine. */
void transport_close(transport *t);

/* Two connected ends in this process.
 *
 * VPU_ERR_NOMEM, VPU_ERR_IO  out of memory, or of file descriptors */
vpu_status transport_pair(transport *ends[2], vpu_error *err);

/* Connect to or listen on "unix:PATH" or "tcp:ADDRESS:PORT", the address a
 * number (127.0.0.1, [::1]): looking up names has no time-out. Port 0 listens
 * on a free one.
 *
 * VPU_ERR_INVALID  the address is neither
 * VPU_ERR_LIMIT    the time is up
 * VPU_ERR_NOMEM, VPU_ERR_IO  nobody listens; the path or port is taken; no
 *                            permission; out of memory */
vpu_status transport_connect(const char *address, unsigned timeout_ms,
                             transport **out, vpu_error *err);
vpu_status transport_listen(const char *address, transport_listener **out,
                            vpu_error *err);
/* The address to connect to; lives as long as the listener. */
const char *transport_listener_address(const transport_listener *l);
vpu_status transport_accept(transport_listener *l, unsigned timeout_ms,
                            transport **out, vpu_error *err);
/* Stop listening; removes the path of a Unix socket. NULL is fine. */
void transport_unlisten(transport_listener *l);

#endif
