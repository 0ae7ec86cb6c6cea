/* See banks.h. */
#include "sim/machine/banks.h"

static uint32_t log2_of(uint64_t n)
{
    uint32_t log = 0;

    while (n >>= 1)
        log++;
    return log;
}

mach_banks mach_banks_of(const mach_desc *desc, uint32_t unit_shift)
{
    uint32_t group = log2_of(desc->ddr_banks);
    mach_banks b = {.row = log2_of(desc->ddr_row_bytes) - unit_shift,
                    .mask = (uint32_t)desc->ddr_banks - 1};

    for (int k = 0; k < MACH_BANK_FOLDS; k++) {
        b.fold[k] = group << k;
        if (!desc->ddr_bank_hash || !group || b.fold[k] > 31)
            b.fold[k] = 31; /* rows have fewer bits */
    }
    return b;
}
