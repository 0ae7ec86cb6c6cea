/* One SHAVE's caches: what the plain model (cache.c) and the fast ways share.
 */
#ifndef VPU_SIM_MACHINE_CACHE_PRIV_H
#define VPU_SIM_MACHINE_CACHE_PRIV_H

#include "sim/machine/cache.h"
#include "sim/machine/cache_repeat.h"
#include "sim/machine/fast.h"

struct mach_cache {
    /* The line of the last load in L1 and of the last access in L2: asking for
     * them again changes no order, so the plain model looks nothing up. */
    uint32_t l1_last, l2_last;
    uint32_t *l2_last_entry; /* way 0 of its set; NULL when l2_last is none */
    cache_level l1, l2;
    mach_places places;
    cache_geometry g;
    mach_mem_counts counts;
    cache_ddr_banks banks;
    cache_ddr_loads ddr;
    bool recording, lost;
    mach_miss *misses;
    uint32_t n_misses, cap_misses, n_accesses;
    uint32_t fast; /* ways in use, bits of mach_way; 0: the plain model alone */
    /* Lists whose repetitions are not looked for after some that had none, and
     * how many are left to skip. */
    uint32_t patience, skip;
    repetition repeat;
};

/* n accesses in order, by the fastest way that needs no repetition. */
void cache_look_up(mach_cache *c, const uint64_t *list, size_t n);

#endif
