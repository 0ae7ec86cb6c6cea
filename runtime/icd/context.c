/* Contexts: of the one device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/icd/icd.h"

void icd_tell(cl_context c, const char *text)
{
    if (c && c->notify)
        c->notify(text, NULL, 0, c->user);
    else
        fprintf(stderr, "vpusim: %s\n", text);
}

/* Pairs of a name and a value, ended by a 0; *n: with the 0. */
static cl_int check_properties(const cl_context_properties *p, size_t *n)
{
    bool platform = false, sync = false;

    *n = 0;
    if (!p)
        return CL_SUCCESS;
    for (; p[*n]; *n += 2) {
        cl_context_properties value = p[*n + 1];
        bool *there = p[*n] == CL_CONTEXT_PLATFORM            ? &platform
                      : p[*n] == CL_CONTEXT_INTEROP_USER_SYNC ? &sync
                                                              : NULL;

        if (!there || *there)
            return CL_INVALID_PROPERTY;
        *there = true;
        if (there == &platform && !icd_is((void *)value, ICD_PLATFORM))
            return CL_INVALID_PLATFORM;
        if (there == &sync && value != CL_TRUE && value != CL_FALSE)
            return CL_INVALID_PROPERTY;
    }
    ++*n;
    return CL_SUCCESS;
}

static cl_context make(const cl_context_properties *properties,
                       icd_notify *notify, void *user, cl_int *error)
{
    cl_context c = NULL;
    size_t n;
    cl_int rc = check_properties(properties, &n);

    if (!rc && !notify && user)
        rc = CL_INVALID_VALUE;
    if (!rc)
        rc = icd_device_open();
    if (!rc && !(c = icd_object_new(ICD_CONTEXT, sizeof *c)))
        rc = CL_OUT_OF_HOST_MEMORY;
    if (!rc && n && !(c->properties = malloc(n * sizeof *properties))) {
        icd_release(c, ICD_CONTEXT, 0);
        c = NULL;
        rc = CL_OUT_OF_HOST_MEMORY;
    }
    if (c) {
        icd_record_context();
        c->notify = notify;
        c->user = user;
        c->n_properties = n;
        if (n)
            memcpy(c->properties, properties, n * sizeof *properties);
    }
    icd_say(error, rc);
    return c;
}

cl_context icd_clCreateContext(const cl_context_properties *properties,
                               cl_uint n, const cl_device_id *devices,
                               icd_notify *notify, void *user, cl_int *error)
{
    cl_int rc = !devices || !n ? CL_INVALID_VALUE : CL_SUCCESS;

    for (cl_uint i = 0; i < n && !rc; i++)
        if (!icd_is(devices[i], ICD_DEVICE))
            rc = CL_INVALID_DEVICE;
    if (!rc)
        return make(properties, notify, user, error);
    icd_say(error, rc);
    return NULL;
}

cl_context icd_clCreateContextFromType(const cl_context_properties *properties,
                                       cl_device_type type, icd_notify *notify,
                                       void *user, cl_int *error)
{
    cl_device_id device;
    cl_int rc = icd_clGetDeviceIDs(NULL, type, 1, &device, NULL);

    if (!rc)
        return make(properties, notify, user, error);
    icd_say(error, rc);
    return NULL;
}

cl_int icd_clRetainContext(cl_context context)
{
    return icd_retain(context, ICD_CONTEXT, CL_INVALID_CONTEXT);
}

cl_int icd_clReleaseContext(cl_context context)
{
    return icd_release(context, ICD_CONTEXT, CL_INVALID_CONTEXT);
}

void icd_context_end(cl_context c)
{
    free(c->properties);
}

cl_int icd_clGetContextInfo(cl_context context, cl_context_info what,
                            size_t room, void *to, size_t *size)
{
    const icd_answer a = {room, to, size};

    if (!icd_is(context, ICD_CONTEXT))
        return CL_INVALID_CONTEXT;
    switch (what) {
    case CL_CONTEXT_REFERENCE_COUNT:
        return ICD_PUT(&a, cl_uint, icd_count(&context->refs));
    case CL_CONTEXT_NUM_DEVICES:
        return ICD_PUT(&a, cl_uint, 1);
    case CL_CONTEXT_DEVICES:
        return ICD_PUT(&a, cl_device_id, &icd_device);
    case CL_CONTEXT_PROPERTIES:
        return icd_put(&a, context->properties,
                       context->n_properties * sizeof *context->properties);
    }
    return CL_INVALID_VALUE;
}
