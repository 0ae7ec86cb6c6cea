/* How busy each bank of DDR is, as counters of a trace. Private to sim/machine.
 *
 * Tracks "bank n" of the group "DDR banks" in "device": the share of time, 0 to
 * 1, in which the bank opens a row or moves data of it. At flow level that is
 * what the running flows take of it, at transaction level what the controller
 * gave it to do. */
#ifndef VPU_SIM_MACHINE_EMIT_HEAT_H
#define VPU_SIM_MACHINE_EMIT_HEAT_H

#include "base/trace/writer.h"
#include "sim/machine/emit_series.h"
#include "sim/machine/steps.h"

typedef struct {
    emit_series busy; /* by bank: cycles Q20 */
    uint32_t n_banks; /* 0: nobody asks */
} emit_heat;

void emit_heat_init(emit_heat *h, uint32_t n_banks);
/* All banks from begin to end: shares of each cycle, Q20. */
void emit_heat_banks(emit_heat *h, uint64_t begin, uint64_t end,
                     const uint64_t share[MACH_MAX_BANKS]);
/* One bank all the time from begin to end. */
void emit_heat_bank(emit_heat *h, uint32_t bank, uint64_t begin, uint64_t end);
/* Of a launch that begins at start; cycles 0: it did not finish, nothing is
 * written. */
void emit_heat_finish(emit_heat *h, trc_writer *w, trc_track device,
                      uint64_t start, uint64_t cycles);

#endif
