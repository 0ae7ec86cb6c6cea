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
#include <string.h>

#include "sim/machine/desc.h"
#include "sim/machine/steps.h"

/* The logarithm rounded down; 0 of 0. */
uint32_t mach_log2(uint64_t n);

typedef struct {
    uint32_t row;   /* shift from an address, or a line's number, to a row's */
    uint32_t mask;  /* banks - 1 */
    uint32_t group; /* bits of a bank's number; 0 without hashing */
} mach_banks;

/* unit_shift: 0 for addresses, the shift of a line for numbers of lines. */
mach_banks mach_banks_of(const mach_desc *desc, uint32_t unit_shift);

/* The bank of a row in its low bits: all groups of the row's bits folded into
 * the lowest. Shifts are constants, as this is done for each line of DDR; FOLD
 * is x ^ x >> n for a row, or for a vector of rows. */
#define MACH_BANK_FOLD(row, group, FOLD)                         \
    switch (group) {                                             \
    case 1:                                                      \
        row = FOLD(FOLD(FOLD(FOLD(FOLD(row, 16), 8), 4), 2), 1); \
        break;                                                   \
    case 2:                                                      \
        row = FOLD(FOLD(FOLD(FOLD(row, 16), 8), 4), 2);          \
        break;                                                   \
    case 3:                                                      \
        row = FOLD(FOLD(FOLD(FOLD(row, 24), 12), 6), 3);         \
        break;                                                   \
    case 4:                                                      \
        row = FOLD(FOLD(FOLD(row, 16), 8), 4);                   \
        break;                                                   \
    default: /* not hashed, or one bank */                       \
        break;                                                   \
    }

/* Another hash (cache.c, MACH_FOREIGN). */
#if defined MACH_FOREIGN && MACH_FOREIGN == 2
#undef MACH_BANK_FOLD
#define MACH_BANK_FOLD(row, group, FOLD) row = FOLD(FOLD(row, 3), 1);
#endif

/* The banks with lines, as bits; m counts them. */
static inline uint32_t mach_banks_in_use(const mach_mem_counts *m)
{
    typedef uint32_t four __attribute__((vector_size(16)));
    const four bits = {1, 2, 4, 8};
    four lines, in_use = {0};

    for (int b = 0; b < MACH_MAX_BANKS; b += 4) {
        memcpy(&lines, &m->bank_lines[b], sizeof lines);
        in_use |= (four)(lines != 0) & bits << (uint32_t)b;
    }
    return in_use[0] | in_use[1] | in_use[2] | in_use[3];
}

static inline uint32_t mach_bank_fold(uint32_t row, uint32_t shift)
{
    return row ^ row >> shift;
}

static inline uint32_t mach_bank_of_row(const mach_banks *b, uint32_t row)
{
    MACH_BANK_FOLD(row, b->group, mach_bank_fold)
    return row & b->mask;
}

static inline uint32_t mach_bank(const mach_banks *b, uint32_t at)
{
    return mach_bank_of_row(b, at >> b->row);
}

#endif
