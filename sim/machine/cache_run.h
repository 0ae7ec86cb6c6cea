/* Lists of accesses by the fast ways. */
#ifndef VPU_SIM_MACHINE_CACHE_RUN_H
#define VPU_SIM_MACHINE_CACHE_RUN_H

#include "sim/machine/cache.h"

/* Looks a list up in caches of two ways that do not record: round by round
 * where it has repetitions. c->fast is not 0. */
void cache_run_list(mach_cache *c, const uint64_t *list, size_t n);

#endif
