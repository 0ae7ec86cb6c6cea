/* A session with a stick as a backend needs one: choosing, connecting, logging,
 * closing. */
#ifndef VPU_RUNTIME_BACKEND_USB_LINK_H
#define VPU_RUNTIME_BACKEND_USB_LINK_H

#include "runtime/backend/backend.h"
#include "runtime/link/mvnc.h"
#include "runtime/link/xlink_log.h"
#include "runtime/usb/device.h"

enum { USB_LOADING_MS = 120000 }; /* kernels of a virtual stick compile */

/* All-zero before backend_usb_session_choose. */
typedef struct {
    const char *device;
    const backend_stick_options *options;
    const log_sink *log;
    xlink_layout layout;
    bool is_virtual; /* behind a socket */
    bool failed;     /* after an error: closing does not wait for answers */
    char about[64];
    transport *transport;
    FILE *file;
    xlink_log *packets;
    trc_writer *trace; /* borrowed, or NULL */
    mvnc *mvnc;
    trc_track out, in;
    bool counted;
} backend_usb_session;

/* backend_stick_ops. */
vpu_status backend_usb_layout(const backend_stick_options *c, xlink_layout *out,
                              vpu_error *err);
vpu_status backend_usb_reset(const char *device, const backend_stick_options *c,
                             const log_sink *log, vpu_error *err);

/* The layout, and what kind of device it is; nothing is opened yet.
 *
 * VPU_ERR_INVALID  no layout */
vpu_status backend_usb_session_choose(backend_usb_session *s,
                                      const char *device,
                                      const backend_stick_options *c,
                                      const log_sink *log, vpu_error *err);
/* Connect, boot if need be. print: the stick's text, or NULL. Errors of
 * transport_connect, usb_connect and mvnc_open. */
vpu_status backend_usb_session_open(backend_usb_session *s,
                                    void (*print)(void *user, const char *text,
                                                  size_t n),
                                    void *print_user, vpu_error *err);
/* Remember that it failed; add the last packets to the message. */
void backend_usb_session_explain(backend_usb_session *s, vpu_error *err);
/* Reset the stick, wait for it to leave; whatever was opened. Problems are
 * warnings in the log. */
void backend_usb_session_close(backend_usb_session *s);

#endif
