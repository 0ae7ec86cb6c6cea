/* Memory that a launch needs while it runs, kept for the next one: to take more
 * than a megabyte from the system and give it back takes several times as long
 * as a short launch. */
#ifndef VPU_SIM_EXEC_SCRATCH_H
#define VPU_SIM_EXEC_SCRATCH_H

#include "base/arena.h"
#include "sim/machine/cache.h"
#include "sim/machine/launch.h"

/* Zeroed: nothing is kept yet. One launch at a time; between launches all but
 * the memory itself is free. */
typedef struct {
    arena *arena;
    arena_mark empty; /* of it */
    mach_cache *caches[MACH_MAX_SHAVES];
} exec_scratch;

/* An empty arena, until exec_scratch_give_back. Runs under an oom_scope. */
arena *exec_scratch_arena(exec_scratch *s);
/* The caches of a SHAVE, cold. Errors of mach_cache_renew. */
vpu_status exec_scratch_cache(exec_scratch *s, uint32_t shave,
                              const mach_desc *desc, uint32_t n_sharing,
                              mach_cache **out, vpu_error *err);
/* The launch is over. */
void exec_scratch_give_back(exec_scratch *s);
void exec_scratch_free(exec_scratch *s);

#endif
