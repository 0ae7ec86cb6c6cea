/* Where data lie on the device, for the caches and the banks.
 *
 * The simulator keeps a buffer's bytes between pages that nobody may touch, at
 * whatever addresses that needs; the device packs buffers. So kernels compute
 * with one address and time is that of another: its place. A table says how far
 * the places of each page are moved; all pages of a buffer are moved alike, by
 * a multiple of 64 bytes. */
#ifndef VPU_SIM_MACHINE_PLACES_H
#define VPU_SIM_MACHINE_PLACES_H

#include <stdint.h>

enum { MACH_PAGE_SHIFT = 12, MACH_PAGE_SIZE = 1 << MACH_PAGE_SHIFT };

/* Bytes by page of the 4 GiB of addresses, modulo 2^32. NULL: nothing is moved.
 */
typedef const uint32_t *mach_places;

static inline uint32_t mach_place_of(mach_places places, uint32_t addr)
{
    return places ? addr + places[addr >> MACH_PAGE_SHIFT] : addr;
}

#endif
