/* What a kernel reaches of its file: what cannot be told to an OpenCL device is
 * no reason to refuse a kernel that does not call it. */
#ifndef VPU_RUNTIME_BACKEND_OPENCL_REACH_H
#define VPU_RUNTIME_BACKEND_OPENCL_REACH_H

#include "base/arena.h"

/* The preprocessed text without the functions that neither the kernel entry,
 * nor its preload or postwrite, calls, directly or not. Lines keep their
 * numbers. A definition that does not read like a function's stays, and so does
 * everything if there is no function of that name. In the arena. */
const char *opencl_reach(const char *text, const char *entry, arena *a);

#endif
