/* Opening a stick, and sending the firmware to an unbooted one. */
#ifndef VPU_RUNTIME_USB_BOOT_H
#define VPU_RUNTIME_USB_BOOT_H

#include "runtime/usb/device.h"
#include "runtime/usb/scan.h"

/* Open a device and claim its interface 0, trying again for a few seconds:
 * permissions often come a moment after the device.
 *
 * VPU_ERR_IO  no permission, in use, gone */
vpu_status usb_open(const usb_found *f, libusb_device_handle **out,
                    vpu_error *err);

/* Patch the image and send it to an unbooted stick, which then goes away.
 *
 * VPU_ERR_PARSE  not an image
 * VPU_ERR_IO     no permission, in use; the stick did not take it */
vpu_status usb_send_firmware(const usb_found *f, const usb_connect_options *o,
                             vpu_error *err);

/* What to do about a missing permission, one text. */
#define USB_PERMISSION                                                       \
    "no permission; install the udev rule (make install, or runtime/usb/"    \
    "70-vpusim.rules to /etc/udev/rules.d), then: udevadm control --reload " \
    "&& udevadm trigger, and plug the stick in again"

#endif
