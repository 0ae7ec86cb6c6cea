/* One attachment of the virtual stick to a USB/IP host: its URBs, and the bulk
 * pipes behind them as a link of bytes.
 *
 * The pipes behave as hardware does: a transfer to the host ends with a short
 * packet or when its URB is full, and a packet that does not fit overflows. */
#ifndef VPU_RUNTIME_STICK_USBIP_SESSION_H
#define VPU_RUNTIME_STICK_USBIP_SESSION_H

#include "base/str.h"
#include "runtime/link/transport.h"
#include "runtime/stick/gadget.h"

/* What goes wrong on purpose, below XLink. Counts of bytes; UINT64_MAX never.
 */
typedef struct {
    uint64_t stall_in, stall_out; /* the endpoint stalls behind so many */
    uint64_t boot_unplug;         /* of firmware: then the stick is gone */
    bool no_boot;                 /* the firmware does not start */
} usbip_faults;
#define USBIP_NO_FAULTS {UINT64_MAX, UINT64_MAX, UINT64_MAX, false}

typedef enum {
    USBIP_GONE,   /* the host let go, or sent what no kernel sends */
    USBIP_BOOTED, /* the firmware is there and starts */
    USBIP_ENDED,  /* usbip_session_over was called */
    USBIP_STOPPED /* *stop was set */
} usbip_end;

typedef struct usbip_session usbip_session;

/* fd, a connected stream socket behind an import, is taken over. g outlives the
 * session. NULL: out of memory; fd is closed. */
usbip_session *usbip_session_new(int fd, gadget *g, const usbip_faults *faults);
void usbip_session_free(usbip_session *s);

/* The booted stick's end of the bulk pipes: lives as long as the session; its
 * close does nothing. From any thread while usbip_session_run runs. */
transport *usbip_session_link(usbip_session *s);
/* Ends usbip_session_run soon. Any thread. */
void usbip_session_over(usbip_session *s);

/* End the connection: the host is told, and what it still sends is taken until
 * it has closed its end, for two seconds at most. fd stays open. */
void usbip_hang_up(int fd);

/* Serve URBs; an unbooted stick collects firmware meanwhile. tick, if any, is
 * called some times a second. */
usbip_end usbip_session_run(usbip_session *s, const _Atomic bool *stop,
                            void (*tick)(void *user), void *user);
/* Bytes of firmware that arrived, and their XXH64 (hash may be NULL). */
size_t usbip_session_firmware(const usbip_session *s, uint64_t *hash);

#endif
