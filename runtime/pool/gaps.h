/* Private to runtime/pool: one order of the items, and where each then lies. */
#ifndef VPU_RUNTIME_POOL_GAPS_H
#define VPU_RUNTIME_POOL_GAPS_H

#include <stdint.h>

#include "base/arena.h"

/* An item as the plan sees it. */
typedef struct {
    uint64_t bytes;       /* above 0, a multiple of the alignment */
    uint64_t alignment;   /* a power of two */
    uint32_t first, last; /* steps, both included */
} pool_ranked;

typedef struct pool_gaps pool_gaps;

/* For orders of these n items, above 0, which stay the caller's; pushed to a.
 */
pool_gaps *pool_gaps_create(arena *a, const pool_ranked *items, uint32_t n);

/* Place all n items in the order of the n numbers, which are all of 0 .. n - 1:
 * each in the smallest gap that it fits in among those placed that live at one
 * of its steps, the lowest of equal ones; else behind the last of them. Sizes
 * and twice the alignments together are below UINT64_MAX.
 *
 * Returns the largest end, the offsets by number in offsets[n]; UINT64_MAX as
 * soon as an end is above limit, with offsets that mean nothing. */
uint64_t pool_gaps_fill(pool_gaps *g, const uint32_t *order, uint64_t limit,
                        uint64_t *offsets);

#endif
