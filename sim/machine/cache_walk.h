/* The effects of a repetition's rounds, as far as the list alone tells. */
#ifndef VPU_SIM_MACHINE_CACHE_WALK_H
#define VPU_SIM_MACHINE_CACHE_WALK_H

#include "sim/machine/cache_repeat.h"

/* Finds r->begin, r->early, r->late, and what belongs to them, for the n
 * accesses that the list has of r. may_wait: late rounds may leave L1's tags
 * behind, where all of them are known. False: too little is known to save
 * time. */
bool repeat_walk_rounds(repetition *r, const cache_level *l1,
                        const cache_level *l2, mach_places places, size_t n,
                        bool may_wait);

#endif
