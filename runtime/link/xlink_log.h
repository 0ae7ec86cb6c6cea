/* What crosses a link, for people: a line per packet into a file, an instant
 * per packet into a trace, and the last few kept for messages of errors.
 *
 * Give xlink_log_watch to the link; it must outlive it. Reading the log
 * (xlink_log_last) is for any thread. */
#ifndef VPU_RUNTIME_LINK_XLINK_LOG_H
#define VPU_RUNTIME_LINK_XLINK_LOG_H

#include <stdio.h>

#include "runtime/link/xlink.h"

typedef struct xlink_log xlink_log;

typedef struct {
    xlink_layout layout;
    bool device; /* whose side; else the host's */
    FILE *file;  /* lines go here; NULL = nowhere. Borrowed */
    /* Each packet, with nanoseconds since the log was made; or NULL. name: what
     * it is, "graphMonitor: TRIGGER". */
    void (*packet)(void *user, uint64_t ns, bool sent, const char *name,
                   uint32_t bytes);
    void *user;
} xlink_log_config;

/* VPU_ERR_NOMEM */
vpu_status xlink_log_create(const xlink_log_config *c, xlink_log **out,
                            vpu_error *err);
void xlink_log_free(xlink_log *l); /* NULL is fine */
const xlink_watch *xlink_log_watch(const xlink_log *l);
/* The last packets, a line each, behind the message of err. */
void xlink_log_last(xlink_log *l, vpu_error *err);
#endif
