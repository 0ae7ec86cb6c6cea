/* Sticks on this machine's USB: finding, booting and talking to them.
 *
 * A stick is named as Linux names its place, "1-1.4": bus, then the ports from
 * the root. It keeps its ports when it boots, not always its bus: at
 * SuperSpeed it comes back on another [U].
 *
 * The bus is scanned anew each time, through a context of its own, since events
 * of plugging and unplugging do not reach containers. Functions may be called
 * from any thread. All fail with VPU_ERR_IO when USB is not to be had here. */
#ifndef VPU_RUNTIME_USB_DEVICE_H
#define VPU_RUNTIME_USB_DEVICE_H

#include "base/arena.h"
#include "base/log.h"
#include "runtime/link/transport.h"
#include "runtime/usb/firmware.h"

enum {
    USB_VENDOR = 0x03e7,
    USB_UNBOOTED = 0x2485,
    USB_BOOTED = 0xf63b,
    USB_OUT = 0x01, /* bulk */
    USB_IN = 0x81
};

typedef struct {
    const char *name;  /* "1-1.4" */
    bool booted;       /* runs firmware: a program uses it, or has died */
    const char *speed; /* "480 Mb/s", "unknown" */
    bool usable;
    const char *why; /* not usable: the reason, and what to do */
} usb_stick;

/* All sticks, in the order of their names, in a. None is no error.
 *
 * VPU_ERR_NOMEM */
vpu_status usb_list(arena *a, usb_stick **list, uint32_t *n, vpu_error *err);

/* How a stick took its firmware. */
typedef struct {
    bool booted; /* the rest is set */
    uint32_t image_bytes;
    double upload_ms, back_ms; /* sending; from then to the booted stick */
    bool left_early; /* gone before the last bytes were acknowledged */
    /* The packet of no bytes behind an image that fills its last packet. It is
     * sent half a second late, to see whether the stick starts without. */
    enum { USB_ZLP_NONE, USB_ZLP_TOO_LATE, USB_ZLP_TAKEN } zlp;
} usb_boot_record;

typedef struct {
    /* Booting takes it; read only then. */
    const char *firmware; /* path of usb-ma2x8x.mvcmd */
    bool watchdog;        /* the stick reboots when pings stay away */
    uint8_t ddr_type;     /* see firmware.h */
    /* Talk to a booted stick, too: no way to know whether another program
     * does. Its firmware is what it is. */
    bool take_booted;
    unsigned timeout_ms;     /* for the stick to come back booted; 0 = 15 s */
    usb_boot_record *record; /* or NULL */
    bool pad;                /* with zeros, to whole packets: see zlp above */
    const log_sink *log;
    const _Atomic bool *stop; /* NULL, or set to give up */
} usb_connect_options;

/* The stick of that name (NULL or "" = the first that can be used), booted if
 * it is not, as a link of bytes.
 *
 * While it boots a lock keeps out other programs that keep to it, published
 * hosts too.
 *
 * VPU_ERR_INVALID  no such stick (message: which there are); it is booted and
 *                  take_booted is not set; no firmware given
 * VPU_ERR_PARSE    the firmware file is none
 * VPU_ERR_IO       no permission (message: what to install), in use by another
 *                  program, did not take the firmware, went away
 * VPU_ERR_LIMIT    did not come back booted; another program boots one for too
 *                  long; stop was set
 * VPU_ERR_NOMEM */
vpu_status usb_connect(const char *name, const usb_connect_options *o,
                       transport **out, vpu_error *err);
/* Where the stick behind a link that usb_connect made is now; lives as long as
 * the link. */
const char *usb_link_name(const transport *t);

/* Wait until no booted stick is at these ports any more, whatever the bus.
 *
 * VPU_ERR_LIMIT  it still is */
vpu_status usb_wait_gone(const char *name, unsigned timeout_ms, vpu_error *err);
/* Wait until an unbooted stick is at these ports, whatever the bus.
 *
 * VPU_ERR_LIMIT  none came */
vpu_status usb_wait_unbooted(const char *name, unsigned timeout_ms,
                             vpu_error *err);

#endif
