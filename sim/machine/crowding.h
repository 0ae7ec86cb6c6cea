/* Lines that push each other out of L2 although it has room: how much of what
 * DDR gives is that, and which lines do it most. */
#ifndef VPU_SIM_MACHINE_CROWDING_H
#define VPU_SIM_MACHINE_CROWDING_H

#include <stddef.h>
#include <stdint.h>

#include "sim/machine/desc.h"

enum { MACH_CROWD = 32 };

typedef struct {
    uint64_t fills;     /* lines that loads got from DDR */
    uint64_t avoidable; /* of these: as many less if L2 were one set */
    uint32_t n_ways, n_sets;
    /* Of the set that loads filled most often: places of the lines that were
     * fetched, for stores, too, ascending; the first n_lines of them. */
    uint32_t lines[MACH_CROWD];
    uint32_t n_lines;
} mach_crowding;

/* The accesses (MACH_ACCESS of places) of one of n_sharing SHAVEs, from empty
 * caches.
 *
 * VPU_ERR_INVALID  n_sharing is not one of the machine's numbers of SHAVEs
 * VPU_ERR_NOMEM    no memory for tags and lists */
vpu_status mach_crowding_of(const mach_desc *desc, uint32_t n_sharing,
                            const uint64_t *list, size_t n, mach_crowding *out,
                            vpu_error *err);

#endif
