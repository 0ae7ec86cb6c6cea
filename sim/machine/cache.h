/* One SHAVE's view of global memory: its L1 data cache and its partition of L2.
 *
 * Compiled kernels write lists of their global accesses, and mach_cache_run
 * looks each list up; this is most of the price of the timing model. Accesses
 * that the simulator makes for a kernel come one by one (mach_cache_load,
 * _store). The cache has tags alone: data are in the device's memory. A SHAVE's
 * hits depend on its own accesses alone, so counts do not depend on threads.
 *
 * One mach_cache, one thread at a time. */
#ifndef VPU_SIM_MACHINE_CACHE_H
#define VPU_SIM_MACHINE_CACHE_H

#include <stdint.h>

#include "sim/machine/desc.h"
#include "sim/machine/places.h"
#include "sim/machine/steps.h"

typedef struct mach_cache mach_cache;

/* n_sharing: SHAVEs taking part in the launch, between which L2 is split. */
vpu_status mach_cache_create(const mach_desc *desc, uint32_t n_sharing,
                             mach_cache **out, vpu_error *err);
/* Likewise, in the memory of *out, which may be NULL: cold, and as new in all
 * other ways. On an error *out is destroyed and NULL. */
vpu_status mach_cache_renew(const mach_desc *desc, uint32_t n_sharing,
                            mach_cache **out, vpu_error *err);
/* From now on look the places of addresses up instead of these themselves; the
 * table is borrowed. */
void mach_cache_set_places(mach_cache *c, mach_places places);
void mach_cache_destroy(mach_cache *c); /* NULL is fine */

/* bytes is 1 .. 128; an access may cross lines. */
void mach_cache_load(mach_cache *c, uint32_t addr, uint32_t bytes);
void mach_cache_store(mach_cache *c, uint32_t addr, uint32_t bytes);

/* The same for n accesses in order, each packed in 64 bits: several times
 * faster than one call each. */
#define MACH_ACCESS(addr, bytes, is_store) \
    ((uint64_t)(addr) | (uint64_t)(bytes) << 32 | (uint64_t)(is_store) << 48)
#define MACH_ACCESS_ADDR(a) ((uint32_t)(a))
#define MACH_ACCESS_BYTES(a) ((uint32_t)((a) >> 32) & 0xffff)
#define MACH_ACCESS_IS_STORE(a) ((a) >> 48 & 1)
void mach_cache_run(mach_cache *c, const uint64_t *list, size_t n);

/* list[0] to list[period - 1] ran last, and each load hit L1, each store L2.
 * How many of the next lists of as many accesses, `most` at most, ask for the
 * same lines in the same order? These hit as well, with the same counts each,
 * and leave all tags as they are: they need not be run. At the price of a
 * comparison. */
uint32_t mach_cache_again(const mach_cache *c, const uint64_t *list,
                          size_t period, uint32_t most);
/* The same where access i of each list is by[i] bytes, modulo 2^32, behind that
 * of the list before. */
uint32_t mach_cache_moved(const mach_cache *c, const uint64_t *list,
                          const uint32_t *by, size_t period, uint32_t most);

/* If such a list has just run, whatever its accesses met, do the next lists
 * that ask for the same lines hit, and leave all tags as they are? They do
 * where the lines fit into any set together and no load follows a store: a load
 * that missed L1 would put its line in front of the stored one in L2, where it
 * is not put again. */
bool mach_cache_settles(const mach_cache *c, const uint64_t *list, size_t n);

/* As mach_cache_run, one access after the other; what access k did is added to
 * counts[owner[k]] as well, but for lines by bank. */
void mach_cache_run_owned(mach_cache *c, const uint64_t *list, size_t n,
                          const uint32_t *owner, mach_mem_counts *counts);

/* Sets of L2, or of the SHAVE's part of it. */
uint32_t mach_cache_l2_sets(const mach_cache *c);

/* From now on keep a list of what DDR and the store buffer see: for the
 * engine's transaction level. Slower. */
void mach_cache_record(mach_cache *c);
enum { MACH_MAX_MISSES = 1 << 26 };
/* Give step the list since the last take, before taking the counts. False: more
 * than MACH_MAX_MISSES, or no memory for them; the step has none then. */
bool mach_cache_take_misses(mach_cache *c, mach_step *step);

/* Counts since the last take. */
mach_mem_counts mach_cache_take(mach_cache *c);
void mach_cache_take_to(mach_cache *c, mach_mem_counts *to);
/* Takes the counts if they are these, which are those of no line of DDR; else
 * false, and nothing has changed. Quick. */
bool mach_cache_take_same(mach_cache *c, const mach_mem_counts *quiet);
void mach_mem_add(mach_mem_counts *to, const mach_mem_counts *n);
/* Write back all dirty lines and forget everything (end of a launch); the
 * write-backs show in the next take. */
void mach_cache_flush(mach_cache *c);

#endif
