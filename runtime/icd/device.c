/* The platform and its device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/icd/icd.h"

struct _cl_platform_id icd_platform = {
    .dispatch = &icd_dispatch, .kind = ICD_PLATFORM, .refs = 1};
struct _cl_device_id icd_device = {.dispatch = &icd_dispatch,
                                   .kind = ICD_DEVICE,
                                   .refs = 1,
                                   .lock = PTHREAD_MUTEX_INITIALIZER,
                                   .once = PTHREAD_ONCE_INIT,
                                   .clock = 1000};

/* --- the platform --------------------------------------------------------- */

cl_int icd_clGetPlatformIDs(cl_uint n, cl_platform_id *list, cl_uint *count)
{
    if ((list && !n) || (!list && !count))
        return CL_INVALID_VALUE;
    if (list)
        *list = &icd_platform;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

cl_int icd_clGetPlatformInfo(cl_platform_id platform, cl_platform_info what,
                             size_t room, void *to, size_t *size)
{
    const icd_answer a = {room, to, size};

    if (platform && !icd_is(platform, ICD_PLATFORM))
        return CL_INVALID_PLATFORM;
    switch (what) {
    case CL_PLATFORM_PROFILE:
        return icd_put_text(&a, "FULL_PROFILE");
    case CL_PLATFORM_VERSION:
        return icd_put_text(&a, "OpenCL 1.2 vpusim " VPU_VERSION);
    case CL_PLATFORM_NAME:
    case CL_PLATFORM_VENDOR:
        return icd_put_text(&a, "vpusim");
    case CL_PLATFORM_EXTENSIONS:
        return icd_put_text(&a, "cl_khr_icd");
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return icd_put_text(&a, "VPUSIM");
    }
    return CL_INVALID_VALUE;
}

cl_int icd_clUnloadPlatformCompiler(cl_platform_id platform)
{
    return icd_is(platform, ICD_PLATFORM) ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

cl_int icd_clUnloadCompiler(void)
{
    return CL_SUCCESS;
}

/* --- the device ----------------------------------------------------------- */

static void read_settings(void)
{
    const char *text = getenv("VPU_CL");
    arena *a = arena_create(0);
    vpu_error err;

    if (icd_settings_read(text ? text : "", a, &icd_device.settings, &err)) {
        icd_device.bad = true;
        fprintf(stderr, "vpusim: VPU_CL: %s\n", err.msg);
        icd_settings_read("", a, &icd_device.settings, NULL);
    }
    icd_device.arena = a;
}

const icd_settings *icd_setting(void)
{
    pthread_once(&icd_device.once, read_settings);
    return &icd_device.settings;
}

const mach_desc *icd_desc(void)
{
    return &icd_setting()->desc;
}

static cl_device_type type(void)
{
    static const cl_device_type types[] = {
        CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU};

    return types[icd_setting()->as];
}

/* Their names, ";" between them; written once, the same each time. */
static const char *causes(void)
{
    static char text[512];
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    for (int k = *text ? MACH_N_CAUSES : 0; k < MACH_N_CAUSES; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                 k ? ";" : "", mach_cause_name((mach_cause)k));
    pthread_mutex_unlock(&lock);
    return text;
}

cl_int icd_clGetDeviceIDs(cl_platform_id platform, cl_device_type asked,
                          cl_uint n, cl_device_id *list, cl_uint *count)
{
    const cl_device_type known =
        CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
        CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;

    if (platform && !icd_is(platform, ICD_PLATFORM))
        return CL_INVALID_PLATFORM;
    if (asked != CL_DEVICE_TYPE_ALL && (!asked || asked & ~known))
        return CL_INVALID_DEVICE_TYPE;
    if ((list && !n) || (!list && !count))
        return CL_INVALID_VALUE;
    if (!(asked & (CL_DEVICE_TYPE_DEFAULT | type())))
        return CL_DEVICE_NOT_FOUND;
    if (list)
        *list = &icd_device;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

cl_int icd_clGetDeviceInfo(cl_device_id device, cl_device_info what,
                           size_t room, void *to, size_t *size)
{
    static const size_t sizes[3] = {ICD_GROUP, ICD_GROUP, ICD_GROUP};
    const icd_answer a = {room, to, size};
    const mach_desc *d = icd_desc();

    if (!icd_is(device, ICD_DEVICE))
        return CL_INVALID_DEVICE;
    switch (what) {
#define TEXT(query, text) \
    case query:           \
        return icd_put_text(&a, text);
#define ANSWER(query, type, value) \
    case query:                    \
        return ICD_PUT(&a, type, value);
#include "runtime/icd/device.def"
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return icd_put(&a, sizes, sizeof sizes);
    case CL_DEVICE_PARTITION_PROPERTIES:
        return ICD_PUT(&a, cl_device_partition_property, 0);
    case CL_DEVICE_PARTITION_TYPE:
        return icd_put(&a, NULL, 0);
    }
    return CL_INVALID_VALUE;
}

cl_int icd_clCreateSubDevices(cl_device_id device,
                              const cl_device_partition_property *properties,
                              cl_uint n, cl_device_id *list, cl_uint *count)
{
    (void)properties, (void)n, (void)list, (void)count;
    return icd_is(device, ICD_DEVICE) ? CL_INVALID_VALUE : CL_INVALID_DEVICE;
}

cl_int icd_clRetainDevice(cl_device_id device)
{
    return icd_retain(device, ICD_DEVICE, CL_INVALID_DEVICE);
}

cl_int icd_clReleaseDevice(cl_device_id device)
{
    return icd_release(device, ICD_DEVICE, CL_INVALID_DEVICE);
}

/* At the first context. */
cl_int icd_device_open(void)
{
    vpu_error err = {0};
    vpu_status st = VPU_OK;

    icd_desc();
    if (icd_device.bad)
        return CL_DEVICE_NOT_AVAILABLE; /* said already */
    pthread_mutex_lock(&icd_device.lock);
    if (!icd_device.core)
        icd_device.core = icd_core_load(&err);
    if (!icd_device.core)
        st = VPU_ERR_IO;
    else if (!icd_device.machine)
        st = icd_device.core->open(icd_desc(), &icd_device.machine, &err);
    pthread_mutex_unlock(&icd_device.lock);
    if (st)
        icd_tell(NULL, err.msg);
    return st == VPU_OK          ? CL_SUCCESS
           : st == VPU_ERR_NOMEM ? CL_OUT_OF_HOST_MEMORY
                                 : CL_DEVICE_NOT_AVAILABLE;
}
