/* XLink events as bytes: the headers of layouts A, B and C, from the table
 * xlink_layouts.def. Pure functions, any thread.
 *
 * A WRITE request is followed by `size` bytes of payload; no other event is. */
#ifndef VPU_RUNTIME_LINK_XLINK_WIRE_H
#define VPU_RUNTIME_LINK_XLINK_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "runtime/config/release.h"

typedef enum {
#define XLINK_LAYOUT(name, ...) XLINK_LAYOUT_##name,
#include "runtime/link/xlink_layouts.def"
    XLINK_N_LAYOUTS
} xlink_layout;

typedef enum {
#define XLINK_EVENT(name, ...) XLINK_##name,
#include "runtime/link/xlink_layouts.def"
    XLINK_N_EVENTS
} xlink_event;

enum {
#define XLINK_FLAG(name, mask, ...) XLINK_FLAG_##name = mask,
#include "runtime/link/xlink_layouts.def"
    XLINK_NAME_BYTES = 64, /* with the NUL */
    XLINK_HEADER_MAX = 92,
    XLINK_MAX_STREAMS = 32,
    XLINK_MAX_PACKETS = 64,   /* queued per stream and direction */
    XLINK_MAX_IN_FLIGHT = 64, /* requests without a response */
    XLINK_SIZE_UNIT = 64,     /* stream sizes are rounded up to it */
    XLINK_FIRST_ID = 10,
};
#define XLINK_NO_STREAM UINT32_C(0xdeaddead)

typedef struct {
    uint32_t id; /* of the event; a response repeats its request's */
    xlink_event event;
    bool response;
    /* Set in CREATE_STREAM only: senders leave garbage there elsewhere, which
     * decoding drops. */
    char name[XLINK_NAME_BYTES];
    /* In responses these may be garbage too (docs/usb.md says where). */
    uint32_t stream, size;
    uint32_t dropped, can_be_served; /* layout C, else 0 */
    uint32_t flags;
} xlink_header;

/* "A", "B" or "C"; false for any other text, *out is then unchanged. */
bool xlink_layout_parse(const char *text, xlink_layout *out);
const char *xlink_layout_name(xlink_layout layout);
/* The last release whose firmware speaks it. */
config_release xlink_last_release(xlink_layout layout);
const char *xlink_event_name(xlink_event event);
size_t xlink_header_size(xlink_layout layout);
/* Whether the host chooses stream ids; otherwise whoever answers does. */
bool xlink_host_allocates(xlink_layout layout);
bool xlink_has_event(xlink_layout layout, xlink_event event);

/* Write xlink_header_size bytes to out, which has room for n.
 *
 * VPU_ERR_INVALID  out is too small; the layout lacks the event or a field that
 *                  is not 0; READ, which is local; a name that is missing, too
 *                  long or not of a CREATE_STREAM; flags no such event has;
 *                  dropped in a WRITE request. Nothing is written. */
vpu_status xlink_encode(xlink_layout layout, const xlink_header *h, void *out,
                        size_t n, vpu_error *err);

/* Read a header from exactly xlink_header_size bytes.
 *
 * VPU_ERR_PARSE  n is another size; a type the layout does not have or does not
 *                send; a CREATE_STREAM whose name is empty or not terminated; a
 *                request without ack; unknown flags, or ones not for the wire
 */
vpu_status xlink_decode(xlink_layout layout, const void *bytes, size_t n,
                        xlink_header *h, vpu_error *err);

/* Add one line, no newline: "WRITE request id 12 stream 0 size 8 flags ACK:
 * 01 00 ..". At most 32 bytes of payload are shown; NULL if there is none. */
void xlink_text(xlink_layout layout, const xlink_header *h, const void *payload,
                size_t n_payload, str *out);

#endif
