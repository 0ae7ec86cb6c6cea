/* What can run graphs now. */
#include "base/oom.h"
#include "runtime/api/api_priv.h"

struct vpu_devices {
    arena *arena;
    backend_device *list;
    size_t n;
};

static vpu_status probe_all(void *user, vpu_error *err)
{
    vpu_devices *d = user;
    size_t cap = 0;
    vpu_status st = VPU_OK;

    for (const backend_ops *const *ops = backend_all; *ops && !st; ops++) {
        backend_device *found;
        uint32_t n;

        st = (*ops)->probe(d->arena, &found, &n, err);
        for (uint32_t i = 0; i < n && !st; i++)
            *arena_append(d->arena, d->list, d->n, cap) = found[i];
    }
    return st;
}

static vpu_status make_devices(void *user, vpu_error *err)
{
    vpu_devices **out = user;
    arena *a = arena_create(0);

    (void)err;
    *out = arena_new(a, vpu_devices);
    (*out)->arena = a;
    return VPU_OK;
}

vpu_status vpu_devices_create(vpu_devices **out, vpu_error *err)
{
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = oom_guard(make_devices, out, err);
    if (!st)
        st = oom_guard(probe_all, *out, err);
    if (st) {
        vpu_devices_free(*out);
        *out = NULL;
    }
    return st;
}

void vpu_devices_free(vpu_devices *devices)
{
    if (devices)
        arena_destroy(devices->arena);
}

size_t vpu_devices_count(const vpu_devices *devices)
{
    return devices ? devices->n : 0;
}

static const backend_device *device_at(const vpu_devices *d, size_t i)
{
    static const backend_device none;

    return d && i < d->n ? &d->list[i] : &none;
}

const char *vpu_devices_id(const vpu_devices *devices, size_t i)
{
    return device_at(devices, i)->id;
}

const char *vpu_devices_name(const vpu_devices *devices, size_t i)
{
    const backend_device *d = device_at(devices, i);

    return d->id && !d->name ? "" : d->name;
}

const char *vpu_devices_why_not(const vpu_devices *devices, size_t i)
{
    const backend_device *d = device_at(devices, i);

    return d->usable ? NULL : d->why;
}
