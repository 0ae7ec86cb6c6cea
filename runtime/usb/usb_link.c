/* Transfers are asynchronous, so that a reset from another thread ends them at
 * once: whoever waits for one handles libusb's events meanwhile. */
#include "runtime/usb/usb_link.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/usb/usb_device.h"
#include "sim/base/clock.h"

enum {
    PIECE = 1 << 20, /* of a transfer [S]; a multiple of all packet sizes */
    /* A cancelled transfer comes back at once, unless the kernel hangs. */
    WAKE_MS = 1000
};

typedef struct {
    transport base;
    libusb_context *usb;
    libusb_device_handle *handle;
    _Atomic bool cut;
    char name[64];
} usb_link;

static void LIBUSB_CALL on_done(struct libusb_transfer *x)
{
    *(int *)x->user_data = 1;
}

/* Wait for a submitted transfer; on the deadline or a cut it is cancelled, and
 * what it had moved counts. */
static void finish(usb_link *l, struct libusb_transfer *x, int *done,
                   int64_t deadline)
{
    bool cancelled = false;

    while (!*done) {
        int64_t left = deadline - clock_ms();

        if (!cancelled && (left <= 0 || l->cut)) {
            libusb_cancel_transfer(x);
            cancelled = true;
        }
        if (cancelled || left > WAKE_MS)
            left = WAKE_MS;
        struct timeval tv = {left / 1000, left % 1000 * 1000};
        libusb_handle_events_timeout_completed(l->usb, &tv, done);
    }
}

static const char *const gone = "the stick is gone";

/* Linux says so, too, before it knows that nobody is there. */
static const char *const broken =
    "the transfer failed, as when the stick is unplugged";

static vpu_status outcome(const usb_link *l, const struct libusb_transfer *x,
                          const char *what, size_t moved, size_t n,
                          unsigned timeout_ms, vpu_error *err)
{
    const char *why = broken;

    if (l->cut)
        return err_set(err, VPU_ERR_IO, "%s: the link was reset", l->name);
    switch (x->status) {
    case LIBUSB_TRANSFER_COMPLETED:
        return VPU_OK;
    case LIBUSB_TRANSFER_CANCELLED:
    case LIBUSB_TRANSFER_TIMED_OUT:
        return err_set(err, VPU_ERR_LIMIT,
                       "%s: %zu of %zu bytes %s within %u ms", l->name, moved,
                       n, what, timeout_ms);
    case LIBUSB_TRANSFER_NO_DEVICE:
        why = gone;
        break;
    case LIBUSB_TRANSFER_STALL:
        why = "the endpoint is stalled";
        break;
    case LIBUSB_TRANSFER_OVERFLOW:
        why = "the stick sent more than was asked for";
        break;
    default:
        break;
    }
    return err_set(err, VPU_ERR_IO, "%s: %zu of %zu bytes %s: %s", l->name,
                   moved, n, what, why);
}

/* A transfer that could not even begin. */
static vpu_status not_taken(const usb_link *l, int status, const char *what,
                            size_t moved, size_t n, vpu_error *err)
{
    const char *why = libusb_strerror((enum libusb_error)status);

    if (l->cut)
        return err_set(err, VPU_ERR_IO, "%s: the link was reset", l->name);
    if (status == LIBUSB_ERROR_NO_DEVICE)
        why = gone;
    if (status == LIBUSB_ERROR_IO)
        why = broken;
    return err_set(err, VPU_ERR_IO, "%s: %zu of %zu bytes %s: %s", l->name,
                   moved, n, what, why);
}

static vpu_status move(usb_link *l, uint8_t endpoint, void *buf, size_t n,
                       size_t *moved, unsigned timeout_ms, vpu_error *err)
{
    int64_t deadline = clock_ms() + timeout_ms;
    bool in = endpoint & LIBUSB_ENDPOINT_IN;
    struct libusb_transfer *x = libusb_alloc_transfer(0);
    vpu_status rc = VPU_OK;

    if (!x)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a USB transfer");
    while (*moved < n && !rc) {
        size_t piece = n - *moved < PIECE ? n - *moved : PIECE;
        int done = 0;
        int status;

        libusb_fill_bulk_transfer(x, l->handle, endpoint,
                                  (uint8_t *)buf + *moved, (int)piece, on_done,
                                  &done, 0);
        status = l->cut ? LIBUSB_ERROR_IO : libusb_submit_transfer(x);
        if (status) {
            rc = not_taken(l, status, in ? "arrived" : "were taken", *moved, n,
                           err);
            break;
        }
        finish(l, x, &done, deadline);
        *moved += (size_t)x->actual_length;
        rc = outcome(l, x, in ? "arrived" : "were taken", *moved, n, timeout_ms,
                     err);
    }
    libusb_free_transfer(x);
    return rc;
}

static vpu_status link_read(transport *t, void *buf, size_t n, size_t *got,
                            unsigned timeout_ms, vpu_error *err)
{
    return move((usb_link *)t, USB_IN, buf, n, got, timeout_ms, err);
}

static vpu_status link_write(transport *t, const void *buf, size_t n,
                             size_t *put, unsigned timeout_ms, vpu_error *err)
{
    /* libusb takes one kind of pointer for both directions. */
    return move((usb_link *)t, USB_OUT, (void *)(uintptr_t)buf, n, put,
                timeout_ms, err);
}

static void link_reset(transport *t)
{
    usb_link *l = (usb_link *)t;

    l->cut = true;
    libusb_interrupt_event_handler(l->usb);
}

static void link_close(transport *t)
{
    usb_link *l = (usb_link *)t;

    libusb_release_interface(l->handle, 0);
    libusb_close(l->handle);
    libusb_exit(l->usb);
    free(l);
}

vpu_status usb_link_new(libusb_context *usb, libusb_device_handle *handle,
                        const char *name, transport **out, vpu_error *err)
{
    static const transport_ops ops = {link_read, link_write, link_reset,
                                      link_close};
    usb_link *l = calloc(1, sizeof *l);

    if (!l) {
        libusb_close(handle);
        libusb_exit(usb);
        return err_set(err, VPU_ERR_NOMEM, "no memory for a link");
    }
    l->base.ops = &ops;
    l->usb = usb;
    l->handle = handle;
    snprintf(l->name, sizeof l->name, "%s", name);
    *out = &l->base;
    return VPU_OK;
}

const char *usb_link_name(const transport *t)
{
    return ((const usb_link *)t)->name;
}
