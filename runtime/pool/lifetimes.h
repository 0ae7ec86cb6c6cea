/* Memory shared by buffers that are never needed at the same time, when the
 * lifetimes become known one after the other.
 *
 * A group records lifetimes: pool_manage begins a buffer's, pool_end ends it
 * and tells what it needs. pool_finalize then shares the buffers out to blobs.
 * Two buffers of one blob, its owners, never live at the same time; the size
 * and the alignment of a blob are the largest of its owners'.
 *
 * The rule. Sizes are known when all lifetimes are, so two assignments are
 * made and the one with the smaller sum of blobs is taken, the first when they
 * are equal:
 *   by size   the largest buffer first, of equal ones the one that began
 *             first; each takes the first blob that is free during its life
 *   by begin  in the order of the calls; each takes the smallest blob that is
 *             free and large enough, else the largest that is free and makes
 *             it larger
 * A buffer that finds no blob gets a new one. A blob is free for a buffer when
 * the lives of all its owners ended before the buffer's began or began after
 * the buffer's ended. Buffers of no bytes are owners like all others, so
 * that a blob may have no bytes. Blobs of a group are in order of size, the
 * largest first, of equal ones the one with the earliest owner.
 *
 * Groups of one manager are never active at the same time. Blob i of the
 * manager is as large, and aligned, as the largest blob i of its groups, and
 * its owners are those of all these blobs. A buffer of group G that G maps to
 * blob i lies in blob i of the manager.
 *
 * The same calls give the same blobs. Keys are the caller's, for example
 * addresses as numbers; each group has keys of its own.
 *
 * Threads: pool_acquire, pool_try_acquire, pool_give_back, pool_address and
 * pool_n_sets may be called from several at a time, also beside one that calls
 * pool_populate or pool_clear; everything else belongs to one thread, while no
 * other calls anything of the manager. When memory is short, base/oom.h says
 * what happens; where an error is returned, nothing has changed. */
#ifndef VPU_RUNTIME_POOL_LIFETIMES_H
#define VPU_RUNTIME_POOL_LIFETIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct pool_manager pool_manager;
typedef struct pool_group pool_group;

typedef struct {
    uint64_t bytes;
    uint64_t alignment; /* a power of two; 0 = no owner asked for one */
    size_t owners;
} pool_blob;

typedef struct {
    uint64_t key;
    uint32_t blob;
} pool_mapping;

/* Bytes of all groups that are finalized. */
typedef struct {
    uint64_t buffers; /* the sum of all buffers' sizes: without sharing */
    uint64_t peak;    /* the sum of the manager's blobs: one set's memory */
    uint64_t saved;   /* the difference */
} pool_usage;

/* The manager owns its groups and sets. Destroying it frees the memory of its
 * sets, also of those that somebody has; NULL is fine. */
pool_manager *pool_manager_create(void);
void pool_manager_destroy(pool_manager *m);
/* A group without buffers; it lives as long as the manager. */
pool_group *pool_group_create(pool_manager *m);

/* --- Recording */

/* Begin the life of a buffer.
 *
 * VPU_ERR_INVALID  the group has had this key since it was created or
 *                  released, or it is finalized
 * VPU_ERR_LIMIT    it has 2^32 - 1 buffers */
vpu_status pool_manage(pool_group *g, uint64_t key, vpu_error *err);

/* End it. alignment is a power of two; 0 asks for none.
 *
 * VPU_ERR_INVALID  the key was not managed, or ended before; the alignment is
 *                  neither 0 nor a power of two; the group is finalized
 * VPU_ERR_LIMIT    the sizes of all the manager's buffers, added, do not fit
 *                  64 bits */
vpu_status pool_end(pool_group *g, uint64_t key, uint64_t bytes,
                    uint64_t alignment, vpu_error *err);

/* No more lifetimes: make the blobs. A finalized group stays as it is.
 *
 * VPU_ERR_INVALID  lives have not ended (message: how many, and a key); the
 *                  manager has sets, whose memory would not fit any more */
vpu_status pool_finalize(pool_group *g, vpu_error *err);

/* Forget all of a group, also lives that have not ended: it may record anew,
 * and the manager's blobs are those of the other groups, none when there are no
 * others.
 *
 * VPU_ERR_INVALID  the manager has sets */
vpu_status pool_release(pool_group *g, vpu_error *err);

/* --- Results; arrays belong to the manager and stand until the next
 * pool_finalize or pool_release of one of its groups. */

/* Of a group, none before it is finalized; of all, the largest of each. */
const pool_blob *pool_group_blobs(const pool_group *g, size_t *n);
const pool_blob *pool_blobs(const pool_manager *m, size_t *n);
/* In the order of the pool_manage calls; none before pool_finalize. */
const pool_mapping *pool_mappings(const pool_group *g, size_t *n);
pool_usage pool_usage_of(const pool_manager *m);

/* --- Sets: real memory for all blobs, several times, so that several threads
 * may each run a group of their own. */

/* Where memory comes from: alloc is called by pool_populate, free by
 * pool_populate, pool_clear and pool_manager_destroy. */
typedef struct {
    /* Memory of at least bytes, above 0; alignment is a power of two. NULL =
     * there is none. */
    void *(*alloc)(void *user, uint64_t bytes, uint64_t alignment);
    void (*free)(void *user, void *memory, uint64_t bytes);
    void *user;
} pool_memory;

/* Make n sets, with one block for each blob that has bytes. *memory is copied
 * and serves until the sets are cleared.
 *
 * VPU_ERR_INVALID  a group with buffers is not finalized; there are sets
 * VPU_ERR_NOMEM    alloc returned NULL (message: blob, bytes); all that was
 *                  taken has been given back
 * VPU_ERR_LIMIT    n times the number of blobs fits no address space */
vpu_status pool_populate(pool_manager *m, uint32_t n, const pool_memory *memory,
                         vpu_error *err);
uint32_t pool_n_sets(pool_manager *m);

/* Take the lowest set that nobody has into *set; pool_acquire waits for one.
 *
 * VPU_ERR_INVALID  there are no sets, or they were cleared meanwhile
 * VPU_ERR_LIMIT    others have all of them (pool_try_acquire only) */
vpu_status pool_acquire(pool_manager *m, uint32_t *set, vpu_error *err);
vpu_status pool_try_acquire(pool_manager *m, uint32_t *set, vpu_error *err);

/* VPU_ERR_INVALID  nobody has this set */
vpu_status pool_give_back(pool_manager *m, uint32_t set, vpu_error *err);

/* Where a buffer of a finalized group lies in a set that the caller has
 * acquired; NULL when neither it nor another owner has bytes.
 *
 * VPU_ERR_INVALID  the group has no such mapping, or nobody has this set */
vpu_status pool_address(pool_group *g, uint64_t key, uint32_t set,
                        void **address, vpu_error *err);

/* Free the memory of all sets; then there are none.
 *
 * VPU_ERR_INVALID  a set is acquired (message: how many) */
vpu_status pool_clear(pool_manager *m, vpu_error *err);

#endif
