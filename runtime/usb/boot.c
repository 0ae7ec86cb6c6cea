/* Opens a stick, trying again while the system still sets it up; patches the
 * firmware and sends it in pieces. */
#include "runtime/usb/boot.h"

#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"

enum {
    OPEN_TRIES = 30, /* 100 ms apart, as Luxonis does */
    OPEN_PAUSE_US = 100000,
    PIECE = 1 << 20, /* bytes of a transfer [S] */
    PIECE_MS = 2000, /* [S] */
    TOTAL_S = 10,    /* [S] */
    PACKET = 512,    /* of the ROM, which runs at high speed [L] */
    LATE_US = 500000,
    MAX_IMAGE = 64 << 20 /* published ones are 2.3 MB */
};

static bool worth_another_try(int rc)
{
    return rc == LIBUSB_ERROR_ACCESS || rc == LIBUSB_ERROR_BUSY ||
           rc == LIBUSB_ERROR_IO;
}

static int try_open(const usb_found *f, libusb_device_handle **out)
{
    int rc = libusb_open(f->device, out);

    if (rc)
        return rc;
    libusb_set_auto_detach_kernel_driver(*out, 1);
    /* Setting it when it is set already is a light reset. */
    int now = 0;
    if (libusb_get_configuration(*out, &now) || now != 1)
        rc = libusb_set_configuration(*out, 1);
    if (!rc)
        rc = libusb_claim_interface(*out, 0);
    if (rc) {
        libusb_close(*out);
        *out = NULL;
    }
    return rc;
}

vpu_status usb_open(const usb_found *f, libusb_device_handle **out,
                    vpu_error *err)
{
    int rc = 0;

    for (int i = 0; i < OPEN_TRIES; i++) {
        rc = try_open(f, out);
        if (!rc || !worth_another_try(rc))
            break;
        usleep(OPEN_PAUSE_US);
    }
    if (!rc)
        return VPU_OK;
    if (rc == LIBUSB_ERROR_ACCESS)
        return err_set(err, VPU_ERR_IO, "stick %s: %s", f->name,
                       USB_PERMISSION);
    if (rc == LIBUSB_ERROR_BUSY)
        return err_set(err, VPU_ERR_IO, "stick %s: another program uses it",
                       f->name);
    return err_set(err, VPU_ERR_IO, "stick %s cannot be opened: %s", f->name,
                   libusb_strerror((enum libusb_error)rc));
}

/* The first bulk endpoint out of interface 0; 0 = none. */
static uint8_t out_endpoint(libusb_device *d)
{
    struct libusb_config_descriptor *config;
    uint8_t found = 0;

    if (libusb_get_config_descriptor(d, 0, &config))
        return 0;
    if (config->bNumInterfaces && config->interface[0].num_altsetting) {
        const struct libusb_interface_descriptor *i =
            config->interface[0].altsetting;

        for (int k = 0; k < i->bNumEndpoints && !found; k++) {
            const struct libusb_endpoint_descriptor *e = &i->endpoint[k];

            if ((e->bmAttributes & 3) == LIBUSB_ENDPOINT_TRANSFER_TYPE_BULK &&
                !(e->bEndpointAddress & LIBUSB_ENDPOINT_IN))
                found = e->bEndpointAddress;
        }
    }
    libusb_free_config_descriptor(config);
    return found;
}

/* Some host controllers hold the last packet back without it. */
static void send_zlp(libusb_device_handle *h, uint8_t endpoint,
                     usb_boot_record *r)
{
    uint8_t nothing = 0;
    int put, rc;

    if (r)
        usleep(LATE_US);
    rc = libusb_bulk_transfer(h, endpoint, &nothing, 0, &put, PIECE_MS);
    if (r)
        r->zlp = rc ? USB_ZLP_TOO_LATE : USB_ZLP_TAKEN;
}

/* A stick that leaves before the last bytes are acknowledged has started what
 * it got. */
static vpu_status send(const usb_found *f, libusb_device_handle *h,
                       const str *image, const usb_connect_options *o,
                       vpu_error *err)
{
    uint8_t endpoint = out_endpoint(f->device);
    time_t start = time(NULL);
    size_t at = 0;
    int put, rc = 0;

    if (!endpoint)
        return err_set(err, VPU_ERR_IO,
                       "stick %s has no bulk endpoint to send firmware to",
                       f->name);
    while (at < image->n && !rc) {
        size_t n = image->n - at < PIECE ? image->n - at : PIECE;

        rc = libusb_bulk_transfer(h, endpoint, (uint8_t *)image->data + at,
                                  (int)n, &put, PIECE_MS);
        at += (size_t)put;
        if (!rc && (time(NULL) - start > TOTAL_S || (o->stop && *o->stop)))
            rc = LIBUSB_ERROR_TIMEOUT;
    }
    if (rc == LIBUSB_ERROR_NO_DEVICE || at == image->n) {
        if (o->record)
            o->record->left_early = rc;
        if (!rc && image->n % PACKET == 0)
            send_zlp(h, endpoint, o->record);
        return VPU_OK;
    }
    return err_set(err, VPU_ERR_IO,
                   "stick %s took %zu of %zu bytes of firmware: %s", f->name,
                   at, image->n, libusb_strerror((enum libusb_error)rc));
}

static vpu_status patched(const usb_connect_options *o, arena *a, str *image,
                          vpu_error *err)
{
    firmware_options options = {o->watchdog, o->ddr_type};
    char *data;
    size_t n;
    vpu_status st = file_read(o->firmware, MAX_IMAGE, a, &data, &n, err);

    if (st)
        return st;
    st = firmware_patch((uint8_t *)data, n, &options, image, err);
    while (!st && o->pad && image->n % PACKET)
        str_add(image, "", 1);
    return st ? err_in(err, st, "%s", o->firmware) : VPU_OK;
}

vpu_status usb_send_firmware(const usb_found *f, const usb_connect_options *o,
                             vpu_error *err)
{
    arena *a = arena_create(0);
    libusb_device_handle *h;
    str image = {0};
    vpu_status st = patched(o, a, &image, err);

    if (!st)
        st = usb_open(f, &h, err);
    if (!st) {
        if (o->record)
            o->record->image_bytes = (uint32_t)image.n;
        st = send(f, h, &image, o, err);
        libusb_release_interface(h, 0);
        libusb_close(h);
    }
    str_free(&image);
    arena_destroy(a);
    return st;
}
