/* The virtual stick as a USB device, for a Linux kernel: plugged into this
 * machine's vhci-hcd, or served to usbip tools over TCP. It is there unbooted,
 * takes firmware, leaves, comes back booted, and is unbooted again after a
 * RESET or when it was unplugged, never both at once. */
#ifndef VPU_RUNTIME_STICK_USBIP_H
#define VPU_RUNTIME_STICK_USBIP_H

#include "base/log.h"
#include "runtime/link/transport.h"
#include "runtime/stick/isolate.h"
#include "runtime/stick/usbip_session.h"

typedef struct {
    /* Where usbip tools connect to, "127.0.0.1" and the port (0 = 3240); NULL
     * = plug into this machine's vhci-hcd. */
    const char *address;
    unsigned port;
    bool super;          /* SuperSpeed once booted */
    bool once;           /* end with the first booted session */
    const char *serial;  /* of the booted stick */
    usbip_faults faults; /* of the first session they concern */
    /* Serve one booted session until it ends: RESET, an error, or *stop. Runs
     * on a thread of its own, of the session's process; its error is logged. */
    vpu_status (*serve)(void *user, transport *link, const _Atomic bool *stop,
                        vpu_error *err);
    void *user;
    /* How a booted stick gets a process of its own, which serves its URBs, too:
     * when that crashes the stick is unplugged. No other thread may be there.
     * NULL: this process serves it. */
    const isolate_config *isolate;
    const _Atomic bool *stop;  /* set to end everything */
    const log_sink *log;       /* what happens, line by line */
    void (*ready)(void *user); /* it listens, or is plugged in; or NULL */
} usbip_config;

/* Until *stop.
 *
 * VPU_ERR_INVALID      the address is none
 * VPU_ERR_IO           the port is taken; as isolate_start
 * VPU_ERR_UNSUPPORTED, VPU_ERR_LIMIT  as vhci_attach
 * VPU_ERR_NOMEM */
vpu_status usbip_run(const usbip_config *c, vpu_error *err);

#endif
