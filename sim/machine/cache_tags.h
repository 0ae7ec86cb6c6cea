/* Tags of a cache, and what DDR sees of the lines that are not there: what all
 * ways of looking accesses up share. */
#ifndef VPU_SIM_MACHINE_CACHE_TAGS_H
#define VPU_SIM_MACHINE_CACHE_TAGS_H

#include <stdint.h>

#include "sim/machine/banks.h"
#include "sim/machine/desc.h"
#include "sim/machine/host.h"
#include "sim/machine/steps.h"

#define LOAD_NUMBERS 0xffffffu /* of cache_ddr_loads.load_number */

typedef struct {
    uint32_t *ways; /* n_sets * n_ways entries */
    uint32_t n_ways, set_mask, line_shift;
} cache_level;

/* Shifts and masks of line numbers. */
typedef struct {
    unsigned l1, l2;
    mach_banks banks; /* of line numbers of L2 */
} cache_geometry;

static INLINE uint32_t cache_bank_of_line(cache_geometry g, uint32_t line)
{
    return mach_bank(&g.banks, line);
}

/* What DDR sees, by bank. posted: a bank's store fills since the load fill
 * before, as a count (low byte, sticking) that is valid when the rest is
 * load_number. Fills and write-backs are counted apart: of planes a power of
 * two apart all are in one bank, and a count waits for the one before. */
typedef struct {
    uint32_t fills[MACH_MAX_BANKS], posted[MACH_MAX_BANKS];
    uint32_t backs[MACH_MAX_BANKS];
} cache_ddr_banks;

/* And in all; apart, so that it can stay in registers. */
typedef struct {
    uint32_t load_number, loads_behind, lines_before;
} cache_ddr_loads;

static INLINE void cache_stored_line(cache_ddr_banks *v,
                                     const cache_ddr_loads *l, uint32_t bank)
{
    uint32_t *p = &v->posted[bank];

    v->fills[bank]++;
    if (*p >> 8 != l->load_number)
        *p = l->load_number << 8;
    *p += (uint8_t)*p != UINT8_MAX;
}

static INLINE void cache_loaded_line(cache_ddr_banks *v, cache_ddr_loads *l,
                                     uint32_t bank)
{
    uint32_t p = v->posted[bank];
    uint32_t n = p >> 8 == l->load_number ? (uint8_t)p : 0;

    v->fills[bank]++;
    l->loads_behind += n > 0;
    l->lines_before += n;
    l->load_number = (l->load_number + 1) & LOAD_NUMBERS;
}

#endif
