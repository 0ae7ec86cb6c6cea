/* Sticks, real and virtual, as a backend. */
#ifndef VPU_RUNTIME_BACKEND_USB_H
#define VPU_RUNTIME_BACKEND_USB_H

#include <stdatomic.h>

#include "runtime/backend/backend.h"
#include "runtime/config/release.h"
#include "runtime/link/xlink_wire.h"
#include "base/trace/writer.h"

/* Set by whoever catches a signal: sessions end soon, with VPU_ERR_IO, and
 * leave their stick reset. */
extern atomic_bool backend_usb_stop;
/* Sessions that are open: as long as there are any, a signal is theirs. */
extern atomic_int backend_usb_sessions;

struct backend_usb_config {
    const char *layout;   /* "A", "B", "C"; NULL = what the firmware file says,
                             if it is a known one, else an error */
    const char *firmware; /* to boot a stick with; NULL = none */
    config_release release; /* whose compiler's blobs; 0 = the layout's last */
    uint32_t n_shaves;      /* 0 = 7 */
    const char *log;  /* file for every packet, "-" = standard error; or NULL */
    bool take_booted; /* a stick another program may use */
    trc_writer *trace; /* tracks of packets and stages; borrowed, or NULL */
};

/* The layout that these choose. VPU_ERR_INVALID: none, and how to choose. */
vpu_status backend_usb_layout(const backend_usb_config *c, xlink_layout *out,
                              vpu_error *err);

/* Open a session with that device and send RESET: for vpu reset. */
vpu_status backend_usb_reset(const char *device, const backend_usb_config *c,
                             const log_sink *log, vpu_error *err);

extern const backend_ops backend_usb;

#endif
