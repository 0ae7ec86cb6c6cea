/* The work of a launch, and changed steps of it. Private to runtime/whatif. */
#ifndef VPU_RUNTIME_WHATIF_EDITS_PRIV_H
#define VPU_RUNTIME_WHATIF_EDITS_PRIV_H

#include "runtime/whatif/edits.h"

enum { WHATIF_IN, WHATIF_OUT, WHATIF_N_WAYS };

/* Transfers in one direction. */
typedef struct {
    uint64_t n, bytes, lines;
} whatif_traffic;

/* The work of a launch, all groups together. */
typedef struct {
    uint64_t n_groups, issue[MACH_N_PHASES], runs;
    uint64_t mem[10], banks[MACH_MAX_BANKS]; /* of mach_mem_counts, in order */
    whatif_traffic copies[MACH_N_PHASES][WHATIF_N_WAYS];
    /* Lines by bank of the n_parts parts that the groups make in the order of
     * SHAVEs: groups that use one bank at a time meet in it, however they are
     * cut. */
    uint64_t (*parts)[MACH_MAX_BANKS];
    uint32_t n_parts;
} whatif_work;

/* Places in whatif_work.mem. */
enum {
    WHATIF_L1_HITS,
    WHATIF_L2_HITS,
    WHATIF_LOAD_FILLS,
    WHATIF_STORES,
    WHATIF_STORE_FILLS,
    WHATIF_WRITE_BACKS,
    WHATIF_LOAD_BYTES,
    WHATIF_STORE_BYTES,
    WHATIF_LOADS_BEHIND,
    WHATIF_LINES_BEFORE
};

/* In the arena. */
whatif_work whatif_work_of(const mach_record *r, arena *a);
/* What a group touches, of n_groups that share the work of l evenly. With a
 * sample. gap: bytes between loads that are better copied, too, than skipped.
 */
void whatif_touched(const whatif_launch *l, const whatif_work *w,
                    uint64_t n_groups, uint32_t gap, arena *scratch,
                    whatif_traffic out[WHATIF_N_WAYS]);

/* What is left of the steps' work. */
typedef struct {
    double issue, accesses;
    double fills; /* of the lines that loads fetch; the others are hits of L2 */
    double lines; /* of all that DDR moves, then */
    uint32_t n_banks; /* not 0: lines are spread evenly over so many */
} whatif_rest;

/* A record with that of the first n_groups groups of each SHAVE of r, which is
 * complete; to be freed. */
mach_record *whatif_keep(const mach_record *r, const whatif_rest *left,
                         uint64_t n_groups);

/* Makes counts that were divided one by one those of a step again: no more
 * loads behind stores than loads, no more lines for stores than stores. */
void whatif_settle(mach_mem_counts *m);

/* Room for the steps of an edit: as much as anybody keeps. */
enum { WHATIF_EDIT_BYTES = 256 << 20 };

#endif
