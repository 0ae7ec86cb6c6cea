/* Plugging a virtual device into this machine's own kernel: its vhci-hcd, as
 * the usbip tool does, but without the tool and the network. */
#ifndef VPU_RUNTIME_STICK_VHCI_H
#define VPU_RUNTIME_STICK_VHCI_H

#include <stdbool.h>

#include "base/err.h"

/* A connected socket to the kernel, which sends URBs on it from now on; closing
 * it unplugs the device. *port, at first -1, is the port that was taken, and is
 * tried first the next time, so that a stick stays where it is.
 *
 * VPU_ERR_UNSUPPORTED  no vhci-hcd, or no right to use it (message: what to do)
 * VPU_ERR_LIMIT        all ports are taken
 * VPU_ERR_IO           out of file descriptors */
vpu_status vhci_attach(bool super, int *port, int *fd, vpu_error *err);

#endif
