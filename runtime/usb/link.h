/* A booted stick's pair of bulk endpoints as a link of bytes. */
#ifndef VPU_RUNTIME_USB_LINK_H
#define VPU_RUNTIME_USB_LINK_H

#include <libusb.h>

#include "runtime/link/transport.h"

/* Takes over both, whatever comes: the handle, whose interface 0 is claimed,
 * and its context, which must be nobody else's. The name is copied.
 *
 * VPU_ERR_NOMEM */
vpu_status usb_link_new(libusb_context *usb, libusb_device_handle *handle,
                        const char *name, transport **out, vpu_error *err);

#endif
