/* Transfers are asynchronous, so that a reset from another thread ends them at
 * once: whoever waits for one handles libusb's events meanwhile. */
#include "runtime/usb/link.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "runtime/usb/device.h"

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

static const char *why_not_begun(enum libusb_error e)
{
    switch (e) {
    case LIBUSB_ERROR_NO_DEVICE:
        return gone;
    case LIBUSB_ERROR_IO:
        return broken;
    default:
        return libusb_strerror(e);
    }
}

static const char *why_ended(enum libusb_transfer_status s)
{
    switch (s) {
    case LIBUSB_TRANSFER_NO_DEVICE:
        return gone;
    case LIBUSB_TRANSFER_STALL:
        return "the endpoint is stalled";
    case LIBUSB_TRANSFER_OVERFLOW:
        return "the stick sent more than was asked for";
    default:
        return broken;
    }
}

/* Bytes to move through an endpoint; libusb takes one kind of pointer for both
 * directions. */
typedef struct {
    uint8_t endpoint;
    uint8_t *bytes;
    size_t n;
    unsigned timeout_ms;
} bulk;

static vpu_status move(usb_link *l, const bulk *k, size_t *moved,
                       vpu_error *err)
{
    int64_t deadline = clock_ms() + k->timeout_ms;
    const char *what =
        k->endpoint & LIBUSB_ENDPOINT_IN ? "arrived" : "were taken";
    struct libusb_transfer *x = libusb_alloc_transfer(0);
    vpu_status st = VPU_OK;

    if (!x)
        return err_set(err, VPU_ERR_NOMEM, "no memory for a USB transfer");
    while (*moved < k->n && !st) {
        size_t piece = k->n - *moved < PIECE ? k->n - *moved : PIECE;
        int done = 0, begun = LIBUSB_ERROR_IO;

        libusb_fill_bulk_transfer(x, l->handle, k->endpoint, k->bytes + *moved,
                                  (int)piece, on_done, &done, 0);
        if (!l->cut)
            begun = libusb_submit_transfer(x);
        if (!begun) {
            finish(l, x, &done, deadline);
            *moved += (size_t)x->actual_length;
        }
        if (l->cut)
            st = err_set(err, VPU_ERR_IO, "%s: the link was reset", l->name);
        else if (!begun && (x->status == LIBUSB_TRANSFER_CANCELLED ||
                            x->status == LIBUSB_TRANSFER_TIMED_OUT))
            st = err_set(err, VPU_ERR_LIMIT,
                         "%s: %zu of %zu bytes %s within %u ms", l->name,
                         *moved, k->n, what, k->timeout_ms);
        else if (begun || x->status != LIBUSB_TRANSFER_COMPLETED)
            st = err_set(err, VPU_ERR_IO, "%s: %zu of %zu bytes %s: %s",
                         l->name, *moved, k->n, what,
                         begun ? why_not_begun((enum libusb_error)begun)
                               : why_ended(x->status));
    }
    libusb_free_transfer(x);
    return st;
}

static vpu_status link_read(transport *t, void *buf, size_t n, size_t *got,
                            unsigned timeout_ms, vpu_error *err)
{
    return move((usb_link *)t, &(const bulk){USB_IN, buf, n, timeout_ms}, got,
                err);
}

static vpu_status link_write(transport *t, const void *buf, size_t n,
                             size_t *put, unsigned timeout_ms, vpu_error *err)
{
    return move(
        (usb_link *)t,
        &(const bulk){USB_OUT, (uint8_t *)(uintptr_t)buf, n, timeout_ms}, put,
        err);
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
