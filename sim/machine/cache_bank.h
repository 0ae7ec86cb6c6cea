/* Rounds of a repetition whose lines stay in their banks. Between two lookups
 * the known accesses to DDR are the same in each of these rounds, so their sums
 * are made once. */
#ifndef VPU_SIM_MACHINE_CACHE_BANK_H
#define VPU_SIM_MACHINE_CACHE_BANK_H

#include "sim/machine/cache_repeat.h"

/* So many rounds are worth the sums. */
enum { REPEAT_WORTH_SUMS = 3 };

/* Is r->sums for r->moved? Makes the sums if they are worth it for n rounds. */
bool repeat_sums_fit(repetition *r, cache_geometry g, uint32_t n);
/* Adds the sums of as many of the next n rounds as r->sums is for, at least
 * one, and returns how many. What is left of these rounds is r->sums.ops. */
uint32_t repeat_sums_add(const repetition *r, cache_batch *b, uint32_t n);

#endif
