/* What the ICD loader finds. */
#include "runtime/backend/opencl_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { MAX_PLATFORMS = 64, MAX_DEVICES = 64 };

static const char *platform_text(const opencl_api *cl, cl_platform_id p,
                                 cl_platform_info what, arena *a)
{
    size_t n = 0;
    char *text;

    if (cl->GetPlatformInfo(p, what, 0, NULL, &n) || !n)
        return "?";
    text = arena_array(a, char, n + 1);
    cl->GetPlatformInfo(p, what, n, text, NULL);
    return text;
}

static const char *device_text(const opencl_api *cl, cl_device_id d,
                               cl_device_info what, arena *a)
{
    size_t n = 0;
    char *text;

    if (cl->GetDeviceInfo(d, what, 0, NULL, &n) || !n)
        return "";
    text = arena_array(a, char, n + 1);
    cl->GetDeviceInfo(d, what, n, text, NULL);
    return text;
}

static uint64_t device_number(const opencl_api *cl, cl_device_id d,
                              cl_device_info what)
{
    cl_ulong v = 0; /* narrower answers fill the low bytes */

    cl->GetDeviceInfo(d, what, sizeof v, &v, NULL);
    return v;
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ' ') && (!p[n] || p[n] == ' '))
            return true;
    return false;
}

/* "OpenCL 3.0 PoCL HSTR: ..." */
static bool is_1_2(const char *version)
{
    int major = 0, minor = 0;

    return sscanf(version, "OpenCL %d.%d", &major, &minor) == 2 &&
           (major > 1 || minor >= 2);
}

static void describe(const opencl_api *cl, arena *a, opencl_device *d)
{
    const char *version = device_text(cl, d->id, CL_DEVICE_VERSION, a);
    const char *ext = device_text(cl, d->id, CL_DEVICE_EXTENSIONS, a);

    d->name = device_text(cl, d->id, CL_DEVICE_NAME, a);
    d->platform_name = platform_text(cl, d->platform, CL_PLATFORM_NAME, a);
    d->version = arena_printf(a, "%s, driver %s", version,
                              device_text(cl, d->id, CL_DRIVER_VERSION, a));
    d->memory_bytes = device_number(cl, d->id, CL_DEVICE_GLOBAL_MEM_SIZE);
    d->max_alloc_bytes = device_number(cl, d->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    d->local_bytes = device_number(cl, d->id, CL_DEVICE_LOCAL_MEM_SIZE);
    d->max_group = device_number(cl, d->id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    d->half = has_word(ext, "cl_khr_fp16");
    d->shave = has_word(ext, "cl_vpusim_shave");
    d->divides = device_number(cl, d->id, CL_DEVICE_SINGLE_FP_CONFIG) &
                 CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    if (cl->GetDeviceInfo(d->id, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                          sizeof d->max_items, d->max_items, NULL))
        for (int i = 0; i < 3; i++) /* more than three dimensions */
            d->max_items[i] = d->max_group;
    if (!is_1_2(version))
        d->why =
            arena_printf(a, "it speaks '%s': OpenCL 1.2 is needed", version);
    else if (!device_number(cl, d->id, CL_DEVICE_AVAILABLE))
        d->why = "its driver says it is not available now: see whether "
                 "another program holds it, and whether you may open it";
    else if (!device_number(cl, d->id, CL_DEVICE_COMPILER_AVAILABLE))
        d->why = "its driver has no compiler for OpenCL C: install the full "
                 "driver";
    else if (!device_number(cl, d->id, CL_DEVICE_ENDIAN_LITTLE))
        d->why = "it is big-endian: tensors are little-endian";
}

void opencl_devices(arena *a, opencl_device **list, uint32_t *n,
                    const char **why)
{
    const opencl_api *cl = opencl_load(why);
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint n_platforms = 0;
    size_t count = 0, cap = 0;

    *list = NULL;
    *n = 0;
    if (!cl)
        return;
    if (cl->GetPlatformIDs(MAX_PLATFORMS, platforms, &n_platforms))
        n_platforms = 0; /* the loader's way to say none */
    if (n_platforms > MAX_PLATFORMS)
        n_platforms = MAX_PLATFORMS;
    for (cl_uint p = 0; p < n_platforms; p++) {
        cl_device_id devices[MAX_DEVICES];
        cl_uint n_devices = 0;

        if (cl->GetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MAX_DEVICES,
                             devices, &n_devices))
            continue;
        for (cl_uint d = 0; d < n_devices && d < MAX_DEVICES; d++) {
            opencl_device *o = arena_append(a, *list, count, cap);

            *o = (opencl_device){.platform = platforms[p],
                                 .id = devices[d],
                                 .platform_index = p,
                                 .device_index = d};
            describe(cl, a, o);
        }
    }
    *n = (uint32_t)count;
    if (!n_platforms)
        *why = "no OpenCL driver (ICD) found in /etc/OpenCL/vendors, or where "
               "OCL_ICD_VENDORS points: install the driver of your device, "
               "for a CPU with apt-get install pocl-opencl-icd";
    else if (!count)
        *why = "the OpenCL drivers found no device: see whether it is plugged "
               "in and whether you may open it (groups render and video)";
}

static void list_them(const opencl_device *list, uint32_t n, str *out)
{
    for (uint32_t i = 0; i < n; i++)
        str_printf(out, "%s%u:%u (%s)", i ? ", " : "", list[i].platform_index,
                   list[i].device_index, list[i].name);
}

/* Digits up to end as a number of 32 bits. */
static bool take_number(const char *text, const char *end, uint32_t *out)
{
    uint64_t v = 0;

    if (text == end)
        return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return false;
        v = v * 10 + (uint64_t)(*text - '0');
        if (v > UINT32_MAX)
            return false;
    }
    *out = (uint32_t)v;
    return true;
}

/* "P" or "P:D". */
static bool is_number(const char *text, uint32_t *p, uint32_t *d)
{
    const char *colon = strchr(text, ':'), *end = text + strlen(text);

    *d = 0;
    return take_number(text, colon ? colon : end, p) &&
           (!colon || take_number(colon + 1, end, d));
}

static bool is_asked_for(const opencl_device *o, const char *text)
{
    uint32_t p, d;

    if (is_number(text, &p, &d))
        return o->platform_index == p && o->device_index == d;
    if (!*text)
        return !o->why;
    return strcasestr(o->name, text) || strcasestr(o->platform_name, text);
}

vpu_status opencl_device_find(const char *text, arena *a, opencl_device *out,
                              vpu_error *err)
{
    const opencl_device *found = NULL;
    opencl_device *list;
    uint32_t n, hits = 0;
    const char *why;
    str names = {0};

    opencl_devices(a, &list, &n, &why);
    if (!n)
        return err_set(err, VPU_ERR_INVALID, "backend opencl: %s", why);
    for (uint32_t i = 0; i < n; i++)
        if (is_asked_for(&list[i], text)) {
            found = found ? found : &list[i];
            hits++;
        }
    list_them(list, n, &names);
    if (!found)
        err_set(err, VPU_ERR_INVALID,
                "backend opencl has no %sdevice%s%s%s; there are %s",
                *text ? "" : "usable ", *text ? " '" : "", text,
                *text ? "'" : "", str_text(&names));
    else if (hits > 1 && *text)
        err_set(err, VPU_ERR_INVALID,
                "backend opencl: '%s' is part of %u names; there are %s", text,
                hits, str_text(&names));
    else if (found->why)
        err_set(err, VPU_ERR_INVALID, "backend opencl: %s cannot be used: %s",
                found->name, found->why);
    else
        *out = *found;
    str_free(&names);
    return !found || (hits > 1 && *text) || found->why ? VPU_ERR_INVALID
                                                       : VPU_OK;
}
