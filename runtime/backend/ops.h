/* The backends without a header of their own. backend.c lists all backends; the
 * others are declared in host.h (host, replay) and usb.h (usb). A new backend
 * needs a declaration here or in its own header, and a line in backend.c. */
#ifndef VPU_RUNTIME_BACKEND_OPS_H
#define VPU_RUNTIME_BACKEND_OPS_H

#include "runtime/backend/backend.h"

extern const backend_ops backend_null_ops, backend_sim_ops, backend_opencl_ops;

#endif
