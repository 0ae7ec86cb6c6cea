/* Memory that users share out themselves: lifetimes, blobs, sets
 * (runtime/pool).
 */
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/api/api_priv.h"
#include "runtime/pool/lifetimes.h"

struct vpu_memory_manager {
    pool_manager *pool;
    vpu_memory_group *groups;
};

struct vpu_memory_group {
    vpu_memory_manager *manager;
    pool_group *pool;
    vpu_memory_group *next;
};

/* --- manager and groups --------------------------------------------------- */

static vpu_status make_manager(void *user, vpu_error *err)
{
    vpu_memory_manager *m = user;

    (void)err;
    m->pool = pool_manager_create();
    return VPU_OK;
}

static vpu_status no_memory(vpu_error *err)
{
    return err_set(err, VPU_ERR_NOMEM, "out of memory");
}

vpu_status vpu_memory_manager_create(vpu_memory_manager **out, vpu_error *err)
{
    vpu_memory_manager *m;
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    m = calloc(1, sizeof *m);
    st = m ? oom_guard(make_manager, m, err) : no_memory(err);
    if (st)
        free(m);
    else
        *out = m;
    return st;
}

void vpu_memory_manager_free(vpu_memory_manager *self)
{
    if (!self)
        return;
    while (self->groups) {
        vpu_memory_group *g = self->groups;

        self->groups = g->next;
        free(g);
    }
    pool_manager_destroy(self->pool);
    free(self);
}

static vpu_status make_group(void *user, vpu_error *err)
{
    vpu_memory_group *g = user;

    (void)err;
    g->pool = pool_group_create(g->manager->pool);
    return VPU_OK;
}

vpu_status vpu_memory_group_create(vpu_memory_group **out,
                                   vpu_memory_manager *manager, vpu_error *err)
{
    vpu_memory_group *g;
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    *out = NULL;
    st = api_need(manager, "manager", err);
    if (st)
        return st;
    g = calloc(1, sizeof *g);
    if (!g)
        return no_memory(err);
    g->manager = manager;
    st = oom_guard(make_group, g, err);
    if (st) {
        free(g);
        return st;
    }
    g->next = manager->groups;
    manager->groups = g;
    *out = g;
    return VPU_OK;
}

/* --- lifetimes ------------------------------------------------------------ */

/* A call of a group, with memory that may be short. */
typedef struct {
    vpu_memory_group *group;
    uint64_t key, bytes, alignment;
    vpu_status (*work)(pool_group *g, vpu_error *err);
} group_call;

static vpu_status call_group(void *user, vpu_error *err)
{
    const group_call *c = user;

    return c->work(c->group->pool, err);
}

static vpu_status call(vpu_memory_group *self,
                       vpu_status (*work)(pool_group *g, vpu_error *err),
                       vpu_error *err)
{
    group_call c = {.group = self, .work = work};
    vpu_status st = api_need(self, "group", err);

    return st ? st : oom_guard(call_group, &c, err);
}

static vpu_status begin(void *user, vpu_error *err)
{
    const group_call *c = user;

    return pool_manage(c->group->pool, c->key, err);
}

vpu_status vpu_memory_group_manage(vpu_memory_group *self, uint64_t key,
                                   vpu_error *err)
{
    group_call c = {.group = self, .key = key};
    vpu_status st = api_need(self, "group", err);

    return st ? st : oom_guard(begin, &c, err);
}

vpu_status vpu_memory_group_end(vpu_memory_group *self, uint64_t key,
                                uint64_t bytes, uint64_t alignment,
                                vpu_error *err)
{
    vpu_status st = api_need(self, "group", err);

    return st ? st : pool_end(self->pool, key, bytes, alignment, err);
}

vpu_status vpu_memory_group_finalize(vpu_memory_group *self, vpu_error *err)
{
    return call(self, pool_finalize, err);
}

vpu_status vpu_memory_group_release(vpu_memory_group *self, vpu_error *err)
{
    return call(self, pool_release, err);
}

/* --- what came of them ---------------------------------------------------- */

size_t vpu_memory_group_mapping_count(const vpu_memory_group *self)
{
    size_t n = 0;

    if (self)
        pool_mappings(self->pool, &n);
    return n;
}

static vpu_status give_blob(const pool_blob *list, size_t n, size_t i,
                            vpu_blob *out, vpu_error *err)
{
    vpu_status st = api_need(out, "out", err);

    if (st)
        return st;
    if (i >= n)
        return err_set(err, VPU_ERR_INVALID, "blob %zu: there are %zu", i, n);
    *out = (vpu_blob){list[i].bytes, list[i].alignment, list[i].owners};
    return VPU_OK;
}

size_t vpu_memory_group_blob_count(const vpu_memory_group *self)
{
    size_t n = 0;

    if (self)
        pool_group_blobs(self->pool, &n);
    return n;
}

vpu_status vpu_memory_group_blob(const vpu_memory_group *self, size_t i,
                                 vpu_blob *out, vpu_error *err)
{
    vpu_status st = api_need(self, "group", err);
    const pool_blob *list;
    size_t n;

    if (st)
        return st;
    list = pool_group_blobs(self->pool, &n);
    return give_blob(list, n, i, out, err);
}

size_t vpu_memory_manager_blob_count(const vpu_memory_manager *self)
{
    size_t n = 0;

    if (self)
        pool_blobs(self->pool, &n);
    return n;
}

vpu_status vpu_memory_manager_blob(const vpu_memory_manager *self, size_t i,
                                   vpu_blob *out, vpu_error *err)
{
    vpu_status st = api_need(self, "manager", err);
    const pool_blob *list;
    size_t n;

    if (st)
        return st;
    list = pool_blobs(self->pool, &n);
    return give_blob(list, n, i, out, err);
}

vpu_status vpu_memory_manager_use(const vpu_memory_manager *self,
                                  vpu_memory_use *out, vpu_error *err)
{
    pool_usage is;
    vpu_status st = api_need(self, "manager", err);

    if (st)
        return st;
    is = pool_usage_of(self->pool);
    return api_give_memory_use(
        (vpu_memory_use){.apart = is.buffers, .planned = is.peak}, out, err);
}

/* --- sets ----------------------------------------------------------------- */

static void *take_memory(void *user, uint64_t bytes, uint64_t alignment)
{
    uint64_t least = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    uint64_t whole = (bytes + least - 1) / least * least;

    (void)user;
    return whole < bytes || whole > PTRDIFF_MAX
               ? NULL
               : aligned_alloc((size_t)least, (size_t)whole);
}

static void give_memory(void *user, void *data, uint64_t bytes)
{
    (void)user, (void)bytes;
    free(data);
}

typedef struct {
    pool_manager *pool;
    uint32_t n;
    pool_memory memory;
} populating;

static vpu_status populate(void *user, vpu_error *err)
{
    const populating *p = user;

    return pool_populate(p->pool, p->n, &p->memory, err);
}

vpu_status vpu_memory_manager_populate(vpu_memory_manager *self, uint32_t n,
                                       const vpu_allocator *allocator,
                                       vpu_error *err)
{
    populating p = {.n = n, .memory = {take_memory, give_memory, NULL}};
    vpu_status st = api_need(self, "manager", err);

    if (!st && allocator && (!allocator->allocate || !allocator->release))
        st = err_set(err, VPU_ERR_INVALID,
                     "the allocator lacks one of its two functions");
    if (st)
        return st;
    if (allocator)
        p.memory = (pool_memory){allocator->allocate, allocator->release,
                                 allocator->user};
    p.pool = self->pool;
    return oom_guard(populate, &p, err);
}

uint32_t vpu_memory_manager_set_count(vpu_memory_manager *self)
{
    return self ? pool_n_sets(self->pool) : 0;
}

vpu_status vpu_memory_manager_clear(vpu_memory_manager *self, vpu_error *err)
{
    vpu_status st = api_need(self, "manager", err);

    return st ? st : pool_clear(self->pool, err);
}

vpu_status vpu_memory_manager_acquire(vpu_memory_manager *self, uint32_t wait,
                                      uint32_t *out, vpu_error *err)
{
    vpu_status st = api_need(self, "manager", err);

    if (!st)
        st = api_need(out, "out", err);
    if (st)
        return st;
    return wait ? pool_acquire(self->pool, out, err)
                : pool_try_acquire(self->pool, out, err);
}

vpu_status vpu_memory_manager_give_back(vpu_memory_manager *self, uint32_t set,
                                        vpu_error *err)
{
    vpu_status st = api_need(self, "manager", err);

    return st ? st : pool_give_back(self->pool, set, err);
}

vpu_status vpu_memory_group_address(vpu_memory_group *self, uint64_t key,
                                    uint32_t set, void **out, vpu_error *err)
{
    vpu_status st = api_need(self, "group", err);

    if (!st)
        st = api_need(out, "out", err);
    return st ? st : pool_address(self->pool, key, set, out, err);
}
