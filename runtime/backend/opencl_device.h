/* OpenCL devices: listing, picking one. */
#ifndef VPU_RUNTIME_BACKEND_OPENCL_DEVICE_H
#define VPU_RUNTIME_BACKEND_OPENCL_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "runtime/backend/opencl_api.h"

typedef struct {
    cl_platform_id platform;
    cl_device_id id;
    uint32_t platform_index, device_index; /* numbers, as in "opencl:P:D" */
    const char *name, *platform_name,
        *version; /* version: OpenCL's, driver's */
    uint64_t memory_bytes, max_alloc_bytes, local_bytes;
    size_t max_group, max_items[3];
    bool shave;      /* has the SHAVE's own functions: cl_vpusim_shave */
    bool half;       /* cl_khr_fp16 */
    bool divides;    /* can round float division and roots correctly */
    const char *why; /* not usable: why not; else NULL */
} opencl_device;

/* All of them, platform by platform. None: *n is 0 and *why says what to do.
 * Texts in the arena, or static. */
void opencl_devices(arena *a, opencl_device **list, uint32_t *n,
                    const char **why);

/* text: "" (the first usable one), "P", "P:D", or a part of one device's name
 * or platform, in any case.
 *
 * VPU_ERR_INVALID  none, several, or not usable (message: which there are) */
vpu_status opencl_device_find(const char *text, arena *a, opencl_device *out,
                              vpu_error *err);

#endif
