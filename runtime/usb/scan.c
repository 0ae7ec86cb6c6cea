/* Lists the devices with a stick's vendor and product numbers, sorted by their
 * place. */
#include "runtime/usb/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/usb/device.h"

enum { MAX_PORTS = 7 }; /* hubs behind each other, by the USB specification */

static bool look(libusb_device *d, usb_found *out)
{
    struct libusb_device_descriptor desc;
    uint8_t ports[MAX_PORTS];
    int n = libusb_get_port_numbers(d, ports, MAX_PORTS), at;

    if (n <= 0 || libusb_get_device_descriptor(d, &desc) ||
        desc.idVendor != USB_VENDOR ||
        (desc.idProduct != USB_UNBOOTED && desc.idProduct != USB_BOOTED))
        return false;
    out->device = d;
    out->booted = desc.idProduct == USB_BOOTED;
    at = snprintf(out->name, sizeof out->name, "%u", libusb_get_bus_number(d));
    for (int i = 0; i < n; i++)
        at += snprintf(out->name + at, sizeof out->name - (size_t)at, "%c%u",
                       i ? '.' : '-', ports[i]);
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(((const usb_found *)a)->name,
                      ((const usb_found *)b)->name);
}

vpu_status usb_scan_start(usb_scan *s, vpu_error *err)
{
    ssize_t n;
    int rc;

    *s = (usb_scan){0};
    rc = libusb_init(&s->usb);
    if (rc) {
        s->usb = NULL;
        return err_set(err, VPU_ERR_IO,
                       "USB cannot be used on this machine: %s. A virtual "
                       "stick needs none: vpu stick --listen ADDRESS",
                       libusb_strerror((enum libusb_error)rc));
    }
    n = libusb_get_device_list(s->usb, &s->devices);
    if (n < 0) {
        usb_scan_end(s);
        return err_set(err, VPU_ERR_IO, "the USB bus cannot be listed: %s",
                       libusb_strerror((enum libusb_error)n));
    }
    s->found = calloc((size_t)n + 1, sizeof *s->found);
    if (!s->found) {
        usb_scan_end(s);
        return err_set(err, VPU_ERR_NOMEM, "no memory for %zd USB devices", n);
    }
    for (ssize_t i = 0; i < n; i++)
        s->n_found += look(s->devices[i], &s->found[s->n_found]);
    qsort(s->found, s->n_found, sizeof *s->found, by_name);
    return VPU_OK;
}

void usb_scan_end(usb_scan *s)
{
    if (s->devices)
        libusb_free_device_list(s->devices, 1);
    if (s->usb)
        libusb_exit(s->usb);
    free(s->found);
    *s = (usb_scan){0};
}

libusb_context *usb_scan_take(usb_scan *s)
{
    libusb_context *usb = s->usb;

    if (s->devices)
        libusb_free_device_list(s->devices, 1);
    s->devices = NULL;
    s->usb = NULL;
    s->n_found = 0;
    return usb;
}

const usb_found *usb_scan_find(const usb_scan *s, const char *name)
{
    for (size_t i = 0; i < s->n_found; i++)
        if (!strcmp(s->found[i].name, name))
            return &s->found[i];
    return NULL;
}

const char *usb_ports(const char *name)
{
    const char *dash = strchr(name, '-');

    return dash ? dash + 1 : name;
}

const char *usb_speed(libusb_device *d)
{
    switch (libusb_get_device_speed(d)) {
    case LIBUSB_SPEED_LOW:
        return "1.5 Mb/s";
    case LIBUSB_SPEED_FULL:
        return "12 Mb/s";
    case LIBUSB_SPEED_HIGH:
        return "480 Mb/s";
    case LIBUSB_SPEED_SUPER:
        return "5 Gb/s";
    case LIBUSB_SPEED_SUPER_PLUS:
        return "10 Gb/s";
    default:
        return NULL;
    }
}
