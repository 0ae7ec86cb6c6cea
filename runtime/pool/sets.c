/* Sets of real memory, handed from thread to thread. */
#include <stdlib.h>
#include <string.h>

#include "base/oom.h"
#include "runtime/pool/manager.h"

/* Give back the first n blocks. */
static void free_blocks(const pool_manager *m, const pool_memory *memory,
                        void **blocks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (blocks[i])
            memory->free(memory->user, blocks[i],
                         m->blobs[i % m->n_blobs].bytes);
}

static vpu_status take_blocks(const pool_manager *m, const pool_memory *memory,
                              void **blocks, size_t n, vpu_error *err)
{
    for (size_t i = 0; i < n; i++) {
        size_t blob = i % m->n_blobs;
        uint64_t bytes = m->blobs[blob].bytes;
        uint64_t alignment = m->blobs[blob].alignment;

        blocks[i] = bytes ? memory->alloc(memory->user, bytes,
                                          alignment ? alignment : 1)
                          : NULL;
        if (bytes && !blocks[i]) {
            free_blocks(m, memory, blocks, i);
            return err_set(err, VPU_ERR_NOMEM,
                           "no memory for the %llu bytes of blob %zu in set "
                           "%zu",
                           (unsigned long long)bytes, blob, i / m->n_blobs);
        }
    }
    return VPU_OK;
}

static vpu_status refuse_unfinished(const pool_manager *m, vpu_error *err)
{
    for (const pool_group *g = m->groups; g; g = g->next)
        if (g->n && !g->finalized)
            return err_set(err, VPU_ERR_INVALID,
                           "a group of %zu buffers is not finalized", g->n);
    return VPU_OK;
}

vpu_status pool_populate(pool_manager *m, uint32_t n, const pool_memory *memory,
                         vpu_error *err)
{
    size_t n_blocks;
    void **blocks;
    bool *taken;

    if (pool_n_sets(m))
        return err_set(err, VPU_ERR_INVALID,
                       "the manager has %u sets of memory; clear them first",
                       pool_n_sets(m));
    if (refuse_unfinished(m, err))
        return VPU_ERR_INVALID;
    if (__builtin_mul_overflow((size_t)n, m->n_blobs, &n_blocks) ||
        n_blocks > SIZE_MAX / sizeof *blocks)
        return err_set(err, VPU_ERR_LIMIT, "%u sets of %zu blobs are too many",
                       n, m->n_blobs);
    if (!n)
        return VPU_OK;
    /* One piece, so that none is lost when memory is short. */
    blocks = oom_malloc(n_blocks * sizeof *blocks + n * sizeof *taken);
    taken = (bool *)(blocks + n_blocks);
    memset(taken, 0, n * sizeof *taken);
    if (take_blocks(m, memory, blocks, n_blocks, err)) {
        free(blocks);
        return VPU_ERR_NOMEM;
    }
    pthread_mutex_lock(&m->lock);
    m->memory = *memory;
    m->blocks = blocks;
    m->taken = taken;
    m->n_sets = n;
    pthread_mutex_unlock(&m->lock);
    return VPU_OK;
}

uint32_t pool_n_sets(pool_manager *m)
{
    uint32_t n;

    pthread_mutex_lock(&m->lock);
    n = m->n_sets;
    pthread_mutex_unlock(&m->lock);
    return n;
}

/* With the lock held; a set is free. */
static uint32_t take_lowest(pool_manager *m)
{
    uint32_t set = 0;

    while (m->taken[set])
        set++;
    m->taken[set] = true;
    m->n_taken++;
    return set;
}

static vpu_status acquire(pool_manager *m, uint32_t *set, bool wait,
                          vpu_error *err)
{
    vpu_status st = VPU_OK;
    uint32_t n;

    pthread_mutex_lock(&m->lock);
    while (wait && m->n_sets && m->n_taken == m->n_sets)
        pthread_cond_wait(&m->changed, &m->lock);
    n = m->n_sets;
    if (!n)
        st = VPU_ERR_INVALID;
    else if (m->n_taken == n)
        st = VPU_ERR_LIMIT;
    else
        *set = take_lowest(m);
    pthread_mutex_unlock(&m->lock);
    if (!st)
        return VPU_OK;
    return n ? err_set(err, st, "all %u sets are in use", n)
             : err_set(err, st, "there are no sets of memory");
}

vpu_status pool_acquire(pool_manager *m, uint32_t *set, vpu_error *err)
{
    return acquire(m, set, true, err);
}

vpu_status pool_try_acquire(pool_manager *m, uint32_t *set, vpu_error *err)
{
    return acquire(m, set, false, err);
}

static vpu_status refuse_set(uint32_t set, vpu_error *err)
{
    return err_set(err, VPU_ERR_INVALID, "nobody has acquired set %u", set);
}

vpu_status pool_give_back(pool_manager *m, uint32_t set, vpu_error *err)
{
    bool had;

    pthread_mutex_lock(&m->lock);
    had = set < m->n_sets && m->taken[set];
    if (had) {
        m->taken[set] = false;
        m->n_taken--;
        pthread_cond_signal(&m->changed);
    }
    pthread_mutex_unlock(&m->lock);
    return had ? VPU_OK : refuse_set(set, err);
}

vpu_status pool_address(pool_group *g, uint64_t key, uint32_t set,
                        void **address, vpu_error *err)
{
    pool_manager *m = g->manager;
    const pool_buffer *b = g->finalized ? pool_find_buffer(g, key) : NULL;
    bool had;

    if (!b)
        return err_set(err, VPU_ERR_INVALID,
                       "the group maps no buffer with key %#llx",
                       (unsigned long long)key);
    pthread_mutex_lock(&m->lock);
    had = set < m->n_sets && m->taken[set];
    if (had)
        *address =
            m->blocks[set * m->n_blobs + g->mappings[b - g->buffers].blob];
    pthread_mutex_unlock(&m->lock);
    return had ? VPU_OK : refuse_set(set, err);
}

/* Take the sets away under the lock and free them outside of it, so that the
 * caller's functions may lock what they like. Returns how many are acquired,
 * when that is not to be ignored; then nothing is done. */
static uint32_t remove_sets(pool_manager *m, bool ignore)
{
    uint32_t n_taken;
    size_t n_blocks;
    void **blocks;

    pthread_mutex_lock(&m->lock);
    n_taken = ignore ? 0 : m->n_taken;
    if (n_taken) {
        pthread_mutex_unlock(&m->lock);
        return n_taken;
    }
    n_blocks = m->n_sets * m->n_blobs;
    blocks = m->blocks;
    m->blocks = NULL;
    m->taken = NULL;
    m->n_sets = m->n_taken = 0;
    pthread_cond_broadcast(&m->changed); /* no set comes back any more */
    pthread_mutex_unlock(&m->lock);
    free_blocks(m, &m->memory, blocks, n_blocks);
    free(blocks);
    return 0;
}

vpu_status pool_clear(pool_manager *m, vpu_error *err)
{
    uint32_t n_taken = remove_sets(m, false);

    return n_taken
               ? err_set(err, VPU_ERR_INVALID,
                         "%u sets are acquired; give them back first", n_taken)
               : VPU_OK;
}

void pool_sets_free(pool_manager *m)
{
    remove_sets(m, true);
}
