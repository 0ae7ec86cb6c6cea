/* One look at the bus. */
#ifndef VPU_RUNTIME_USB_SCAN_H
#define VPU_RUNTIME_USB_SCAN_H

#include <libusb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct {
    libusb_device *device;
    char name[48]; /* "1-1.4" */
    bool booted;
} usb_found;

typedef struct {
    libusb_context *usb;
    libusb_device **devices;
    usb_found *found; /* in the order of their names */
    size_t n_found;
} usb_scan;

/* VPU_ERR_IO     no USB here, or the bus cannot be read
 * VPU_ERR_NOMEM */
vpu_status usb_scan_start(usb_scan *s, vpu_error *err);
void usb_scan_end(usb_scan *s); /* frees what is not taken */

/* The context, without which the scan can go on; nobody else's from now on. */
libusb_context *usb_scan_take(usb_scan *s);

const usb_found *usb_scan_find(const usb_scan *s, const char *name);
/* The ports of a name, "1.4": what it keeps when it boots. */
const char *usb_ports(const char *name);
/* "480 Mb/s"; NULL: not known. */
const char *usb_speed(libusb_device *d);

#endif
