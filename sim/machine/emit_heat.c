/* See emit_heat.h. */
#include "sim/machine/emit_heat.h"

#include <stdio.h>

#include "sim/machine/flow.h"

enum { N_WINDOWS = 256, FIRST_LOG = 4 };
static const uint64_t one = UINT64_C(1) << FLOW_Q;

void emit_heat_init(emit_heat *h, uint32_t n_banks)
{
    h->n_banks = n_banks;
    emit_series_init(&h->busy, n_banks, N_WINDOWS, FIRST_LOG);
}

void emit_heat_banks(emit_heat *h, uint64_t begin, uint64_t end,
                     const uint64_t share[MACH_MAX_BANKS])
{
    emit_series_rates(&h->busy, begin, end, share);
}

void emit_heat_bank(emit_heat *h, uint32_t bank, uint64_t begin, uint64_t end)
{
    if (h->n_banks)
        emit_series_rate(&h->busy, bank, begin, end, one);
}

void emit_heat_finish(emit_heat *h, trc_writer *w, trc_track device,
                      uint64_t start, uint64_t cycles)
{
    uint64_t all = 0;
    trc_track group;
    char name[32];

    for (uint32_t b = 0; b < h->n_banks; b++)
        all += emit_series_sum(&h->busy, b);
    if (all && cycles) {
        group = trc_track_group(w, device, "DDR banks");
        for (uint32_t b = 0; b < h->n_banks; b++) {
            snprintf(name, sizeof name, "bank %u", b);
            emit_series_write(
                &h->busy, b, w,
                trc_track_counter(w, group, name, TRC_CYCLES, TRC_UNIT_NONE),
                start, cycles, (double)one);
        }
    }
    emit_series_free(&h->busy);
}
