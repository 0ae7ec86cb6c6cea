/* Which source line a SHAVE's cycles belong to.
 *
 * While the interpreter runs groups, each SHAVE's profile counts how often
 * every block ran and what each line's accesses did to the caches, and keeps
 * the latter per step until the engine has replayed it. The engine tells
 * (mach_watch) what each step cost; that is divided between the lines by what
 * they did.
 *
 *   interpreter --> block counts, per step: lines and their cache events
 *   engine      --> causes of each step in order --> rows
 *
 * Issue cycles come from the block counts and isa/lines.h. Of a step's L2
 * stalls each line gets what its own hits cost; a DDR stall, contention
 * included, is divided by fills, a store stall by what the stores hold of the
 * buffer. Divisions are exact: part k ends at floor(cycles * weight of the
 * first k / all).
 *
 * A SHAVE's profile is used by whoever runs the SHAVE, or by the engine while
 * none does. */
#ifndef VPU_SIM_EXEC_PROFILE_H
#define VPU_SIM_EXEC_PROFILE_H

#include "sim/exec/exec.h"
#include "sim/machine/cache.h"

typedef struct profile_launch profile_launch;
typedef struct profile_shave profile_shave;

/* Programs of the phases, NULL where there is none. In the arena, but for what
 * profile_free frees. */
profile_launch *
profile_create(const mach_desc *desc,
               const isa_function *const programs[MACH_N_PHASES],
               uint32_t n_shaves, arena *a);
void profile_free(profile_launch *p); /* NULL is fine */
profile_shave *profile_of_shave(profile_launch *p, uint32_t shave);
const mach_watch *profile_watch(profile_launch *p);
/* After the launch: the rows of all SHAVEs, in the arena.
 * VPU_ERR_NOMEM     memory was short on the way
 * VPU_ERR_INTERNAL  the rows do not add up to the launch (a defect of ours) */
vpu_status profile_finish(profile_launch *p, const mach_profile *launch,
                          arena *a, exec_profile *out, vpu_error *err);

/* --- told by whoever runs the SHAVE -------------------------------------- */

void profile_phase(profile_shave *s, uint64_t group, mach_phase phase);
void profile_block(profile_shave *s, uint32_t block);
/* What follows (accesses, hooks) is of this line. */
void profile_line(profile_shave *s, uint32_t line);
/* Entry n of the access log is of the current line. */
void profile_logged(profile_shave *s, uint64_t n);
/* Gives the log to the cache, entry by entry. */
void profile_feed(profile_shave *s, mach_cache *cache, const uint64_t *log,
                  uint64_t n);
/* The current line used the cache itself. */
void profile_touched(profile_shave *s, mach_cache *cache);
/* A step ends; of RUN: what its accesses did. */
mach_mem_counts profile_run_step(profile_shave *s);
/* The step without issue cycles at a SHAVE's end, after mach_cache_flush. */
mach_mem_counts profile_flush_step(profile_shave *s, mach_cache *cache);
void profile_dma_step(profile_shave *s, uint64_t bytes);
void profile_wait_step(profile_shave *s);

#endif
