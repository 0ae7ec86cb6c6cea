/* Private to runtime/pool: what is inside a manager and its groups. */
#ifndef VPU_RUNTIME_POOL_MANAGER_H
#define VPU_RUNTIME_POOL_MANAGER_H

#include <pthread.h>

#include "base/arena.h"
#include "runtime/pool/lifetimes.h"

/* A buffer of a group. Calls are numbered, so that no two times are equal. */
typedef struct {
    uint64_t key, bytes, alignment;
    uint64_t begin, end; /* the calls that began and ended it; 0 = not yet */
} pool_buffer;

struct pool_group {
    pool_manager *manager;
    pool_group *next;
    pool_buffer *buffers; /* [n], in the order of the pool_manage calls */
    size_t n, cap;
    size_t n_open;
    uint64_t clock; /* calls so far */
    uint64_t bytes; /* of all that ended */
    uint32_t
        *slots;     /* [n_slots]: buffers + 1 by hash of their keys, 0 = free */
    size_t n_slots; /* 0 or a power of two, more than 2 * n */
    bool finalized;
    arena *results;         /* when finalized: */
    pool_mapping *mappings; /* [n] */
    pool_blob *blobs;       /* [n_blobs] */
    size_t n_blobs;
};

struct pool_manager {
    pool_group *groups;
    uint64_t bytes; /* of all buffers that ended, in all groups */
    pool_blob *blobs;
    size_t n_blobs, cap_blobs;
    /* Of the sets, all below under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a set was given back, or all are gone */
    pool_memory memory;
    void **blocks; /* [n_sets][n_blobs] */
    bool *taken;   /* [n_sets], behind the blocks */
    uint32_t n_sets, n_taken;
};

/* The buffer of a key, NULL = none. */
pool_buffer *pool_find_buffer(const pool_group *g, uint64_t key);

/* Free the memory of all sets, whoever has them. */
void pool_sets_free(pool_manager *m);

/* Share n buffers out as lifetimes.h says; blob_of[n] and the blobs are pushed
 * to a. Returns the number of blobs. */
size_t pool_share(const pool_buffer *buffers, size_t n, arena *a,
                  uint32_t *blob_of, pool_blob **blobs);

#endif
