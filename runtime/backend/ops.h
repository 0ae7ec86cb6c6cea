/* The tables of all backends (backends.def). */
#ifndef VPU_RUNTIME_BACKEND_OPS_H
#define VPU_RUNTIME_BACKEND_OPS_H

#include "runtime/backend/backend.h"

#define BACKEND(name) extern const backend_ops backend_##name##_ops;
#include "runtime/backend/backends.def"

#endif
