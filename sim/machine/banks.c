/* See banks.h. */
#include "sim/machine/banks.h"

#include "sim/machine/steps.h"

_Static_assert(MACH_MAX_BANKS == 16, "MACH_BANK_FOLD knows groups of 4 bits");

uint32_t mach_log2(uint64_t n)
{
    uint32_t log = 0;

    while (n >>= 1)
        log++;
    return log;
}

mach_banks mach_banks_of(const mach_desc *desc, uint32_t unit_shift)
{
    return (mach_banks){
        .row = mach_log2(desc->ddr_row_bytes) - unit_shift,
        .mask = (uint32_t)desc->ddr_banks - 1,
        .group = desc->ddr_bank_hash ? mach_log2(desc->ddr_banks) : 0};
}
