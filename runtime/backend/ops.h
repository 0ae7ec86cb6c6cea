/* The tables of all backends, for the list in backend.c. A new backend needs a
 * declaration here and a line there. */
#ifndef VPU_RUNTIME_BACKEND_OPS_H
#define VPU_RUNTIME_BACKEND_OPS_H

#include "runtime/backend/backend.h"

extern const backend_ops backend_null_ops, backend_sim_ops, backend_opencl_ops,
    backend_host_ops, backend_replay_ops, backend_usb_ops;

#endif
