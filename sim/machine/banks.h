/* Which bank of DDR an address is in: the one place that says so.
 *
 * Rows of consecutive addresses go to one bank after the other. With
 * ddr_bank_hash the number of a row's bank is also the exclusive or of all
 * higher bits of the row's number, taken in groups as wide as it. Then rows
 * whose distance is a power of two are in different banks, as in controllers
 * whose interleaving is a permutation: any rows that follow each other still
 * are in all banks in turn. */
#ifndef VPU_SIM_MACHINE_BANKS_H
#define VPU_SIM_MACHINE_BANKS_H

#include <stdint.h>

#include "sim/machine/desc.h"

enum { MACH_BANK_FOLDS = 5 };

typedef struct {
    uint32_t row;  /* shift from an address, or a line's number, to a row's */
    uint32_t mask; /* banks - 1 */
    uint32_t fold[MACH_BANK_FOLDS]; /* shifts by 1, 2, 4 … groups of bits; of
                                       31, which leave nothing, otherwise */
} mach_banks;

/* unit_shift: 0 for addresses, the shift of a line for numbers of lines. */
mach_banks mach_banks_of(const mach_desc *desc, uint32_t unit_shift);

static inline uint32_t mach_bank_of_row(const mach_banks *b, uint32_t row)
{
    for (int k = 0; k < MACH_BANK_FOLDS; k++)
        row ^= row >> b->fold[k];
    return row & b->mask;
}

static inline uint32_t mach_bank(const mach_banks *b, uint32_t at)
{
    return mach_bank_of_row(b, at >> b->row);
}

#endif
