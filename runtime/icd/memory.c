/* Buffers in the device's memory, and parts of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/icd/icd.h"

static const cl_mem_flags access_flags =
    CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
static const cl_mem_flags host_flags =
    CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
static const cl_mem_flags host_access_flags =
    CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;

static bool at_most_one(cl_mem_flags flags)
{
    return !(flags & (flags - 1));
}

bool icd_memory_flags_agree(cl_mem_flags f)
{
    return !(f & ~(access_flags | host_flags | host_access_flags)) &&
           at_most_one(f & access_flags) &&
           at_most_one(f & host_access_flags) &&
           !(f & CL_MEM_USE_HOST_PTR &&
             f & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR));
}

uint8_t *icd_memory_bytes(cl_mem m)
{
    return icd_device.core->window(icd_device.machine) + m->address;
}

uint64_t icd_memory_ns(size_t bytes)
{
    double ns = (double)bytes / icd_desc()->ddr_eff_bw;

    return ns < 1 ? 1 : (uint64_t)ns;
}

/* The slower of both: bytes go through. */
uint64_t icd_link_ns(size_t bytes)
{
    const icd_settings *s = icd_setting();
    uint64_t ddr = icd_memory_ns(bytes), link;

    if (!s->link_rate)
        return ddr;
    link = s->link_each * 1000 + (uint64_t)bytes * 1000 / s->link_rate;
    return link > ddr ? link : ddr;
}

/* Named by number: OpenCL has no names for them. */
static cl_int place(cl_mem m)
{
    static unsigned number; /* with the device's lock */
    char name[32];
    vpu_error err;
    vpu_status st;

    pthread_mutex_lock(&icd_device.lock);
    snprintf(name, sizeof name, "buffer %u", ++number);
    st = icd_device.core->alloc(icd_device.machine, name, m->bytes, ICD_ALIGN,
                                &m->address, &err);
    pthread_mutex_unlock(&icd_device.lock);
    if (st)
        icd_tell(m->context, err.msg);
    return st ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_SUCCESS;
}

static cl_int check_buffer(cl_context context, cl_mem_flags flags, size_t bytes,
                           const void *host)
{
    if (!icd_is(context, ICD_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (!icd_memory_flags_agree(flags))
        return CL_INVALID_VALUE;
    if (!bytes || bytes > icd_desc()->ddr_bytes / 4)
        return CL_INVALID_BUFFER_SIZE;
    if (!host != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
        return CL_INVALID_HOST_PTR;
    return CL_SUCCESS;
}

cl_mem icd_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes,
                          void *host, cl_int *error)
{
    cl_int rc = check_buffer(context, flags, bytes, host);
    cl_mem m = NULL;

    if (!rc && !(m = icd_object_new(ICD_MEMORY, sizeof *m)))
        rc = CL_OUT_OF_HOST_MEMORY;
    if (!rc) {
        m->context = icd_use(context);
        m->flags = flags & access_flags ? flags : flags | CL_MEM_READ_WRITE;
        m->bytes = bytes;
        m->host = flags & CL_MEM_USE_HOST_PTR ? host : NULL;
        rc = icd_watch_new_memory(m) ? place(m) : CL_OUT_OF_HOST_MEMORY;
        if (rc) {
            m->bytes = 0; /* nothing to give back */
            icd_release(m, ICD_MEMORY, 0);
            m = NULL;
        } else if (host) {
            memcpy(icd_memory_bytes(m), host, bytes);
            icd_watch_written(m, 0, bytes);
        }
    }
    icd_say(error, rc);
    return m;
}

/* What a part may add to its parent's flags. */
static cl_int part_flags(cl_mem parent, cl_mem_flags *flags)
{
    cl_mem_flags f = *flags, p = parent->flags;

    if (f & host_flags || !icd_memory_flags_agree(f))
        return CL_INVALID_VALUE;
    if ((p & CL_MEM_WRITE_ONLY && f & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) ||
        (p & CL_MEM_READ_ONLY && f & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) ||
        (p & CL_MEM_HOST_WRITE_ONLY && f & CL_MEM_HOST_READ_ONLY) ||
        (p & CL_MEM_HOST_READ_ONLY && f & CL_MEM_HOST_WRITE_ONLY) ||
        (p & CL_MEM_HOST_NO_ACCESS &&
         f & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)))
        return CL_INVALID_VALUE;
    if (!(f & access_flags))
        f |= p & access_flags;
    if (!(f & host_access_flags))
        f |= p & host_access_flags;
    *flags = f | (p & host_flags);
    return CL_SUCCESS;
}

cl_mem icd_clCreateSubBuffer(cl_mem parent, cl_mem_flags flags,
                             cl_buffer_create_type type, const void *info,
                             cl_int *error)
{
    const cl_buffer_region *r = info;
    cl_int rc = CL_SUCCESS;
    cl_mem m = NULL;

    if (!icd_is(parent, ICD_MEMORY) || parent->parent)
        rc = CL_INVALID_MEM_OBJECT;
    else if (type != CL_BUFFER_CREATE_TYPE_REGION || !r)
        rc = CL_INVALID_VALUE;
    else
        rc = part_flags(parent, &flags);
    if (!rc && !r->size)
        rc = CL_INVALID_BUFFER_SIZE;
    if (!rc &&
        (r->origin > parent->bytes || r->size > parent->bytes - r->origin))
        rc = CL_INVALID_VALUE;
    if (!rc && r->origin % ICD_ALIGN)
        rc = CL_MISALIGNED_SUB_BUFFER_OFFSET;
    if (!rc && !(m = icd_object_new(ICD_MEMORY, sizeof *m)))
        rc = CL_OUT_OF_HOST_MEMORY;
    if (!rc) {
        m->context = icd_use(parent->context);
        m->parent = icd_use(parent);
        m->flags = flags;
        m->bytes = r->size;
        m->origin = r->origin;
        m->address = parent->address + (uint32_t)r->origin;
        m->host = parent->host ? (char *)parent->host + r->origin : NULL;
    }
    icd_say(error, rc);
    return m;
}

cl_int icd_clRetainMemObject(cl_mem m)
{
    return icd_retain(m, ICD_MEMORY, CL_INVALID_MEM_OBJECT);
}

cl_int icd_clReleaseMemObject(cl_mem m)
{
    return icd_release(m, ICD_MEMORY, CL_INVALID_MEM_OBJECT);
}

void icd_memory_end(cl_mem m)
{
    while (m->destructors) {
        icd_destructor *d = m->destructors;

        m->destructors = d->next;
        d->call(m, d->user);
        free(d);
    }
    while (m->maps) {
        icd_map *x = m->maps;

        m->maps = x->next;
        free(x);
    }
    if (!m->parent && m->bytes) {
        pthread_mutex_lock(&icd_device.lock);
        icd_device.core->give_back(icd_device.machine, m->address);
        pthread_mutex_unlock(&icd_device.lock);
    }
    free(m->written);
    icd_drop(m->parent);
    icd_drop(m->context);
}

cl_int icd_clSetMemObjectDestructorCallback(
    cl_mem m, void(CL_CALLBACK *call)(cl_mem, void *), void *user)
{
    icd_destructor *d;

    if (!icd_is(m, ICD_MEMORY))
        return CL_INVALID_MEM_OBJECT;
    if (!call)
        return CL_INVALID_VALUE;
    d = malloc(sizeof *d);
    if (!d)
        return CL_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&icd_mutex);
    *d = (icd_destructor){m->destructors, call, user};
    m->destructors = d;
    pthread_mutex_unlock(&icd_mutex);
    return CL_SUCCESS;
}

static cl_uint count_maps(cl_mem m)
{
    cl_uint n = 0;

    pthread_mutex_lock(&icd_mutex);
    for (const icd_map *x = m->maps; x; x = x->next)
        n++;
    pthread_mutex_unlock(&icd_mutex);
    return n;
}

cl_int icd_clGetMemObjectInfo(cl_mem m, cl_mem_info what, size_t room, void *to,
                              size_t *size)
{
    const icd_answer a = {room, to, size};

    if (!icd_is(m, ICD_MEMORY))
        return CL_INVALID_MEM_OBJECT;
    switch (what) {
    case CL_MEM_TYPE:
        return ICD_PUT(&a, cl_mem_object_type, CL_MEM_OBJECT_BUFFER);
    case CL_MEM_FLAGS:
        return ICD_PUT(&a, cl_mem_flags, m->flags);
    case CL_MEM_SIZE:
        return ICD_PUT(&a, size_t, m->bytes);
    case CL_MEM_HOST_PTR:
        return ICD_PUT(&a, void *, m->host);
    case CL_MEM_MAP_COUNT:
        return ICD_PUT(&a, cl_uint, count_maps(m));
    case CL_MEM_REFERENCE_COUNT:
        return ICD_PUT(&a, cl_uint, icd_count(&m->refs));
    case CL_MEM_CONTEXT:
        return ICD_PUT(&a, cl_context, m->context);
    case CL_MEM_ASSOCIATED_MEMOBJECT:
        return ICD_PUT(&a, cl_mem, m->parent);
    case CL_MEM_OFFSET:
        return ICD_PUT(&a, size_t, m->origin);
    }
    return CL_INVALID_VALUE;
}
