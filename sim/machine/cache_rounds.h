/* A repetition's rounds carried out: counts and tags as if its accesses had
 * been looked up. */
#ifndef VPU_SIM_MACHINE_CACHE_ROUNDS_H
#define VPU_SIM_MACHINE_CACHE_ROUNDS_H

#include "sim/machine/cache.h"

/* The next n accesses of c->repeat, which is live afterwards: what is left of a
 * round, then whole rounds. What begins another round is owed. */
void cache_rounds_run(mach_cache *c, const uint64_t *list, size_t n);
/* Looks up what c->repeat owes, and brings L1's tags up to date. */
void cache_rounds_pay(mach_cache *c);
/* Pays, as what follows is no part of the repetition. Nothing to do where none
 * is live. */
void cache_rounds_leave(mach_cache *c);

#endif
