/* Places for the tensors of a graph in one piece of memory.
 *
 * Items live from a first to a last step, both included. Two that live at the
 * same step get memory of their own; two that do not may share it. Nothing here
 * touches memory: sizes go in, offsets come out. A function may be called from
 * several threads at a time; its arena belongs to one. When memory is short,
 * base/oom.h says what happens. */
#ifndef VPU_RUNTIME_POOL_PLAN_H
#define VPU_RUNTIME_POOL_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

typedef struct {
    uint64_t bytes;       /* 0: the item gets no memory, and offset 0 */
    uint64_t alignment;   /* of the offset; a power of two, 0 counts as 1 */
    uint32_t first, last; /* steps, both included */
} pool_item;

/* All figures are bytes. An item takes its size rounded up to its alignment,
 * in memory as in the figures, so that the lower bound is one. */
typedef struct {
    uint64_t *offsets; /* [n], in the order of the items */
    size_t n;
    uint64_t peak;        /* the memory that all need: the largest end */
    uint64_t lower_bound; /* the largest sum of sizes that live at one step; no
                             plan needs less */
    uint64_t sum;         /* of all sizes: the need without sharing */
} pool_plan;

/* Plan n items; the offsets are pushed to a. items may be NULL when n is 0.
 *
 * Several orders of the items are tried (by size, by size times life, by first
 * step, by the fullest step that an item lives at); in each, an item gets the
 * smallest gap that it fits in, or the end. The smallest peak wins, the first
 * of equal ones. While the peak is above the lower bound, a graph of up to
 * 4,472 items gets further rounds (up to 500 from each order, fewer the more
 * items it has), in which the item at the top goes before others.
 *
 * The same items get the same plan. The order of the items does not matter:
 * when they are given in another one, an item gets the offset that it had, and
 * those that are alike in all four figures share out the same offsets.
 *
 * VPU_ERR_INVALID  the alignment is neither 0 nor a power of two, or first is
 *                  above last; the message names the item by its number
 * VPU_ERR_LIMIT    the sizes up to an item and twice their alignments, added,
 *                  are about 2^64 (message: its number), or there are
 *                  2^32 - 1 items or more */
vpu_status pool_plan_make(const pool_item *items, size_t n, arena *a,
                          pool_plan *out, vpu_error *err);

#endif
