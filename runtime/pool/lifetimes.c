/* Groups record lifetimes; a manager has the largest blobs of its groups. */
#include "runtime/pool/lifetimes.h"

#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/pool/manager.h"

enum { LEAST_SLOTS = 32 };

static void *zeroed(size_t n, size_t size)
{
    void *p = oom_malloc(n * size);

    memset(p, 0, n * size);
    return p;
}

pool_manager *pool_manager_create(void)
{
    pool_manager *m = zeroed(1, sizeof *m);

    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    return m;
}

static void forget(pool_group *g)
{
    arena_destroy(g->results);
    free(g->buffers);
    free(g->slots);
    g->manager->bytes -= g->bytes;
    *g = (pool_group){.manager = g->manager, .next = g->next};
}

void pool_manager_destroy(pool_manager *m)
{
    if (!m)
        return;
    pool_sets_free(m);
    for (pool_group *g = m->groups, *next; g; g = next) {
        next = g->next;
        forget(g);
        free(g);
    }
    free(m->blobs);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

pool_group *pool_group_create(pool_manager *m)
{
    pool_group *g = zeroed(1, sizeof *g);

    g->manager = m;
    g->next = m->groups;
    m->groups = g;
    return g;
}

/* --- Keys */

/* Addresses differ in their middle bits; all bits of a key reach the low ones
 * of its hash. */
static uint64_t hash(uint64_t key)
{
    key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

/* The slot of a key, or the free one where it belongs. */
static uint32_t *slot_of(const pool_group *g, uint64_t key)
{
    size_t mask = g->n_slots - 1;
    size_t at = (size_t)hash(key) & mask;

    while (g->slots[at] && g->buffers[g->slots[at] - 1].key != key)
        at = (at + 1) & mask;
    return &g->slots[at];
}

pool_buffer *pool_find_buffer(const pool_group *g, uint64_t key)
{
    uint32_t found = g->n ? *slot_of(g, key) : 0;

    return found ? &g->buffers[found - 1] : NULL;
}

/* Room for one buffer more. */
static void make_room(pool_group *g)
{
    if (g->n == g->cap) {
        size_t cap = g->cap ? 2 * g->cap : LEAST_SLOTS / 2;

        g->buffers = oom_realloc(g->buffers, cap * sizeof *g->buffers);
        g->cap = cap;
    }
    if (2 * (g->n + 1) > g->n_slots) {
        size_t n_slots = g->n_slots ? 2 * g->n_slots : LEAST_SLOTS;
        uint32_t *slots = zeroed(n_slots, sizeof *slots);

        free(g->slots);
        g->slots = slots;
        g->n_slots = n_slots;
        for (size_t i = 0; i < g->n; i++)
            *slot_of(g, g->buffers[i].key) = (uint32_t)i + 1;
    }
}

/* --- Recording */

static vpu_status refuse_finalized(vpu_error *err)
{
    return err_set(err, VPU_ERR_INVALID,
                   "the group is finalized; release it to record anew");
}

static vpu_status refuse_sets(pool_manager *m, vpu_error *err)
{
    uint32_t n = pool_n_sets(m);

    return n ? err_set(err, VPU_ERR_INVALID,
                       "the manager has %u sets of memory; clear them first", n)
             : VPU_OK;
}

vpu_status pool_manage(pool_group *g, uint64_t key, vpu_error *err)
{
    if (g->finalized)
        return refuse_finalized(err);
    if (pool_find_buffer(g, key))
        return err_set(err, VPU_ERR_INVALID,
                       "the buffer with key %#llx is managed already",
                       (unsigned long long)key);
    if (g->n >= UINT32_MAX - 1)
        return err_set(err, VPU_ERR_LIMIT, "%zu buffers in a group", g->n);
    make_room(g);
    g->buffers[g->n] = (pool_buffer){.key = key, .begin = ++g->clock};
    *slot_of(g, key) = (uint32_t)++g->n;
    g->n_open++;
    return VPU_OK;
}

vpu_status pool_end(pool_group *g, uint64_t key, uint64_t bytes,
                    uint64_t alignment, vpu_error *err)
{
    pool_buffer *b = pool_find_buffer(g, key);
    uint64_t all;

    if (g->finalized)
        return refuse_finalized(err);
    if (!b || b->end)
        return err_set(err, VPU_ERR_INVALID,
                       b ? "the buffer with key %#llx ended before"
                         : "no buffer with key %#llx is managed",
                       (unsigned long long)key);
    if (alignment & (alignment - 1))
        return err_set(err, VPU_ERR_INVALID,
                       "alignment %llu of the buffer with key %#llx is neither "
                       "0 nor a power of two",
                       (unsigned long long)alignment, (unsigned long long)key);
    if (__builtin_add_overflow(g->manager->bytes, bytes, &all))
        return err_set(err, VPU_ERR_LIMIT,
                       "%llu bytes of the buffer with key %#llx and %llu of "
                       "those before do not fit 64 bits",
                       (unsigned long long)bytes, (unsigned long long)key,
                       (unsigned long long)g->manager->bytes);
    b->bytes = bytes;
    b->alignment = alignment;
    b->end = ++g->clock;
    g->manager->bytes = all;
    g->bytes += bytes;
    g->n_open--;
    return VPU_OK;
}

/* --- Blobs */

/* Room for so many blobs of the manager, so that merge_blobs needs no more. */
static void reserve_blobs(pool_manager *m, size_t n)
{
    if (n > m->cap_blobs) {
        m->blobs = oom_realloc(m->blobs, n * sizeof *m->blobs);
        m->cap_blobs = n;
    }
}

/* The manager's blobs from those of its groups; groups that are not finalized
 * have none. */
static void merge_blobs(pool_manager *m)
{
    m->n_blobs = 0;
    for (const pool_group *g = m->groups; g; g = g->next)
        for (size_t i = 0; i < g->n_blobs; i++) {
            pool_blob *to = &m->blobs[i];

            if (i == m->n_blobs) {
                *to = (pool_blob){0};
                m->n_blobs++;
            }
            if (g->blobs[i].bytes > to->bytes)
                to->bytes = g->blobs[i].bytes;
            if (g->blobs[i].alignment > to->alignment)
                to->alignment = g->blobs[i].alignment;
            to->owners += g->blobs[i].owners;
        }
}

static vpu_status refuse_open(const pool_group *g, vpu_error *err)
{
    const pool_buffer *b = g->buffers;

    while (b->end)
        b++;
    return err_set(err, VPU_ERR_INVALID,
                   "%zu of %zu lifetimes have not ended, the first is that of "
                   "key %#llx",
                   g->n_open, g->n, (unsigned long long)b->key);
}

vpu_status pool_finalize(pool_group *g, vpu_error *err)
{
    pool_mapping *mappings;
    pool_blob *blobs;
    size_t n_blobs;
    uint32_t *blob_of;
    arena *a;

    if (g->finalized)
        return VPU_OK;
    if (g->n_open)
        return refuse_open(g, err);
    if (refuse_sets(g->manager, err))
        return VPU_ERR_INVALID;
    a = arena_create(0);
    blob_of = arena_array(a, uint32_t, g->n);
    mappings = arena_array(a, pool_mapping, g->n);
    n_blobs = pool_share(g->buffers, g->n, a, blob_of, &blobs);
    reserve_blobs(g->manager, n_blobs);
    for (size_t i = 0; i < g->n; i++)
        mappings[i] = (pool_mapping){g->buffers[i].key, blob_of[i]};
    g->results = a;
    g->mappings = mappings;
    g->blobs = blobs;
    g->n_blobs = n_blobs;
    g->finalized = true;
    merge_blobs(g->manager);
    return VPU_OK;
}

vpu_status pool_release(pool_group *g, vpu_error *err)
{
    if (refuse_sets(g->manager, err))
        return VPU_ERR_INVALID;
    forget(g);
    merge_blobs(g->manager);
    return VPU_OK;
}

const pool_blob *pool_group_blobs(const pool_group *g, size_t *n)
{
    *n = g->n_blobs;
    return g->blobs;
}

const pool_blob *pool_blobs(const pool_manager *m, size_t *n)
{
    *n = m->n_blobs;
    return m->blobs;
}

const pool_mapping *pool_mappings(const pool_group *g, size_t *n)
{
    *n = g->finalized ? g->n : 0;
    return g->mappings;
}

pool_usage pool_usage_of(const pool_manager *m)
{
    pool_usage u = {0};

    for (const pool_group *g = m->groups; g; g = g->next)
        u.buffers += g->finalized ? g->bytes : 0;
    for (size_t i = 0; i < m->n_blobs; i++)
        u.peak += m->blobs[i].bytes;
    u.saved = u.buffers - u.peak;
    return u;
}
