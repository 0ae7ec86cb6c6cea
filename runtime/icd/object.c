/* Live objects, as a set of pointers; what queries give back. */
#include <stdlib.h>
#include <string.h>

#include "runtime/icd/icd.h"

pthread_mutex_t icd_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t icd_changed = PTHREAD_COND_INITIALIZER;

/* Open addressing; gaps are GONE, which no object is. */
static struct {
    icd_object **slots;
    size_t n, used, cap; /* used: with gaps */
} live;
static icd_object gone;
#define GONE (&gone)

static size_t slot_of(const void *p, size_t cap)
{
    return ((uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (cap - 1);
}

/* NULL: not there. With the lock. */
static icd_object **find(const void *p)
{
    if (!p || !live.cap)
        return NULL;
    for (size_t i = slot_of(p, live.cap); live.slots[i];
         i = (i + 1) & (live.cap - 1))
        if (live.slots[i] == p)
            return &live.slots[i];
    return NULL;
}

static void insert(icd_object *o)
{
    size_t i = slot_of(o, live.cap);

    while (live.slots[i] && live.slots[i] != GONE)
        i = (i + 1) & (live.cap - 1);
    live.used += !live.slots[i];
    live.slots[i] = o;
    live.n++;
}

static bool make_room(void)
{
    icd_object **old = live.slots;
    size_t n = live.cap, cap = n && live.n < n / 4 ? n : n ? 2 * n : 64;

    if (n && live.used < n / 2)
        return true;
    live.slots = calloc(cap, sizeof *live.slots);
    if (!live.slots) {
        live.slots = old;
        return false;
    }
    live.cap = cap;
    live.n = live.used = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i] && old[i] != GONE)
            insert(old[i]);
    free(old);
    return true;
}

void *icd_object_new(icd_kind kind, size_t bytes)
{
    icd_object *o = calloc(1, bytes);
    bool ok;

    if (!o)
        return NULL;
    o->dispatch = &icd_dispatch;
    o->kind = kind;
    o->refs = 1;
    pthread_mutex_lock(&icd_mutex);
    ok = make_room();
    if (ok)
        insert(o);
    pthread_mutex_unlock(&icd_mutex);
    if (!ok)
        free(o);
    return ok ? o : NULL;
}

static bool is(const void *handle, icd_kind kind)
{
    icd_object **at;

    if (handle == &icd_platform)
        return kind == ICD_PLATFORM;
    if (handle == &icd_device)
        return kind == ICD_DEVICE;
    at = find(handle);
    return at && (*at)->kind == kind;
}

bool icd_is(const void *handle, icd_kind kind)
{
    bool yes;

    pthread_mutex_lock(&icd_mutex);
    yes = is(handle, kind);
    pthread_mutex_unlock(&icd_mutex);
    return yes;
}

static void end(icd_object *o)
{
    switch (o->kind) {
    case ICD_CONTEXT:
        icd_context_end((cl_context)o);
        break;
    case ICD_QUEUE:
        icd_queue_end((cl_command_queue)o);
        break;
    case ICD_MEMORY:
        icd_memory_end((cl_mem)o);
        break;
    case ICD_PROGRAM:
        icd_program_end((cl_program)o);
        break;
    case ICD_KERNEL:
        icd_kernel_end((cl_kernel)o);
        break;
    case ICD_EVENT:
        icd_event_end((cl_event)o);
        break;
    case ICD_PLATFORM:
    case ICD_DEVICE:
        return; /* they stay */
    }
    free(o);
}

cl_int icd_retain(void *handle, icd_kind kind, cl_int invalid)
{
    bool yes;

    pthread_mutex_lock(&icd_mutex);
    yes = is(handle, kind);
    if (yes && kind != ICD_DEVICE)
        ((icd_object *)handle)->refs++;
    pthread_mutex_unlock(&icd_mutex);
    return yes ? CL_SUCCESS : invalid;
}

cl_int icd_release(void *handle, icd_kind kind, cl_int invalid)
{
    icd_object *o = handle;
    bool yes, last = false;

    pthread_mutex_lock(&icd_mutex);
    yes = is(handle, kind);
    if (yes && kind != ICD_DEVICE && !--o->refs) {
        *find(o) = GONE;
        live.n--;
        last = !o->uses;
    }
    pthread_mutex_unlock(&icd_mutex);
    if (last)
        end(o);
    return yes ? CL_SUCCESS : invalid;
}

cl_uint icd_count(const cl_uint *n)
{
    cl_uint v;

    pthread_mutex_lock(&icd_mutex);
    v = *n;
    pthread_mutex_unlock(&icd_mutex);
    return v;
}

void *icd_use(void *object)
{
    if (!object)
        return NULL;
    pthread_mutex_lock(&icd_mutex);
    ((icd_object *)object)->uses++;
    pthread_mutex_unlock(&icd_mutex);
    return object;
}

void icd_drop(void *object)
{
    icd_object *o = object;
    bool last;

    if (!o)
        return;
    pthread_mutex_lock(&icd_mutex);
    last = !--o->uses && !o->refs;
    pthread_mutex_unlock(&icd_mutex);
    if (last)
        end(o);
}

cl_int icd_put(const icd_answer *a, const void *value, size_t bytes)
{
    if (a->to && a->room < bytes)
        return CL_INVALID_VALUE;
    if (a->to && bytes)
        memcpy(a->to, value, bytes);
    if (a->size)
        *a->size = bytes;
    return CL_SUCCESS;
}

cl_int icd_put_text(const icd_answer *a, const char *text)
{
    return icd_put(a, text ? text : "", text ? strlen(text) + 1 : 1);
}
