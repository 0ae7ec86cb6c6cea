/* Sets of two ways: the lookups that nearly all time is spent in.
 *
 * A batch holds a copy of what lookups need and change all the time. Tags are
 * written through pointers that may alias anything, and what is local need not
 * be fetched again after each. */
#ifndef VPU_SIM_MACHINE_CACHE_PAIRS_H
#define VPU_SIM_MACHINE_CACHE_PAIRS_H

#include "sim/machine/cache.h"
#include "sim/machine/cache_tags.h"

/* What a batch adds to the counts; what follows from others is not counted. */
typedef struct {
    uint64_t loads, stores, load_bytes, store_bytes;
    uint64_t crossings; /* lines that loads touched beyond their first */
    uint64_t l1_misses;
} cache_tally;

typedef struct {
    cache_level l1, l2;
    cache_geometry g;
    cache_tally tally;
    cache_ddr_loads ddr;
    cache_ddr_banks *banks;
    uint32_t fills, backs; /* in banks when the batch began */
} cache_batch;

cache_batch cache_batch_begin(mach_cache *c);
/* Adds to the counts of c, from which b was begun. */
void cache_batch_end(mach_cache *c, const cache_batch *b);

/* Looks n accesses up in order. */
void cache_pairs_run(mach_cache *c, const uint64_t *list, size_t n);

/* A set as one word, most recent in the low half (hosts are little-endian:
 * LLVM's code for the window's memory needs that, too). */
typedef uint64_t __attribute__((may_alias)) cache_pair_of_ways;

static INLINE cache_pair_of_ways *cache_pair(const cache_level *v,
                                             uint32_t line)
{
    return (cache_pair_of_ways *)(void *)v->ways + (line & v->set_mask);
}

/* True on a hit. L1 lines are never dirty: on a hit in the second way and on a
 * miss alike the new set is (line, old first way). Most accesses find their
 * line first in its set, so nothing is written then. */
static INLINE bool cache_l1_pair(const cache_level *l1, uint32_t line)
{
    cache_pair_of_ways *set = cache_pair(l1, line), both = *set;
    uint32_t key = line << 1, mru = (uint32_t)both;

    if (mru == key)
        return true;
    *set = key | (uint64_t)mru << 32;
    return (uint32_t)(both >> 32) == key;
}

/* dirty: 1 for a store, else 0. */
static INLINE void cache_l2_pair(cache_batch *b, uint32_t line, uint32_t dirty)
{
    cache_pair_of_ways *set = cache_pair(&b->l2, line), both = *set;
    uint32_t mru = (uint32_t)both, lru = (uint32_t)(both >> 32), bank;

    if (mru >> 1 == line) {
        if (dirty & ~mru)
            *set = both | 1;
        return;
    }
    if (lru >> 1 == line) {
        *set = lru | dirty | (uint64_t)mru << 32;
        return;
    }
    *set = line << 1 | dirty | (uint64_t)mru << 32;
    bank = cache_bank_of_line(b->g, line);
    if (dirty)
        cache_stored_line(b->banks, &b->ddr, bank);
    else
        cache_loaded_line(b->banks, &b->ddr, bank);
    if (lru & 1)
        b->banks->backs[cache_bank_of_line(b->g, lru >> 1)]++;
}

/* A line of L1, and of L2 when L1 does not have it. */
static INLINE void cache_load_pair(cache_batch *b, uint32_t line)
{
    if (cache_l1_pair(&b->l1, line))
        return;
    b->tally.l1_misses++;
    cache_l2_pair(b, line >> (b->g.l2 - b->g.l1), 0);
}

#endif
