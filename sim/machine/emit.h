/* What the engine writes into a trace. Private to sim/machine.
 *
 * Tracks of the group "device": "stages", "SHAVE n", "DMA n", "SHAVE n local",
 * the counters "DDR bytes/cycle", "active SHAVEs" and those of emit_traffic.h,
 * emit_heat.h and emit_local.h, and, when a launch has ended, "critical path"
 * and "SHAVE n slack"; and what it tells a mach_watch.
 * All functions accept a NULL emitter, which means neither. */
#ifndef VPU_SIM_MACHINE_EMIT_H
#define VPU_SIM_MACHINE_EMIT_H

#include "base/trace/writer.h"
#include "sim/machine/critical.h"
#include "sim/machine/desc.h"
#include "sim/machine/dram.h"
#include "sim/machine/launch.h"

typedef struct emit_writer emit_writer;

/* NULL when there is neither trace nor watch, or memory is short. */
emit_writer *emit_create(trc_writer *trace, const mach_desc *desc,
                         const mach_launch *launch);
/* Writes what was merged, and each SHAVE's totals from the profile, which
 * counts only when the launch finished. */
void emit_destroy(emit_writer *e, const mach_profile *p, bool finished);

/* A phase of a group runs on a SHAVE from begin to end; in between its causes
 * in order of time. */
void emit_phase_begin(emit_writer *e, uint32_t shave, uint64_t t,
                      uint64_t group, mach_phase phase);
void emit_phase_end(emit_writer *e, uint32_t shave, uint64_t t);
void emit_cause(emit_writer *e, uint32_t shave, uint64_t t, uint64_t cycles,
                mach_cause cause);
/* Is no group told apart from those beside it? Then n of them whose compute
 * phases follow each other from t on can be told as one: `causes`, the cycles
 * of each, those of its dispatch first. */
bool emit_merges(const emit_writer *e);
void emit_groups(emit_writer *e, uint32_t shave, uint64_t t, uint64_t n,
                 const uint64_t causes[MACH_N_CAUSES]);
/* The next cause is one that waited for a bank, too: for which, and for whom, a
 * channel below n_channels or a SHAVE from there on. */
void emit_held(emit_writer *e, const dram_wait *why, uint32_t n_channels);
/* Who waits for which transfers; see critical.h. */
uint32_t emit_asked(emit_writer *e, uint64_t t, const critical_request *r);
void emit_needs(emit_writer *e, uint32_t shave, uint64_t t, critical_set set);
/* What a channel did for a group of a SHAVE. */
typedef struct {
    uint32_t channel, shave;
    uint32_t number; /* of emit_asked */
    uint64_t group, asked, begin, end;
    const mach_transfer *transfer;
} emit_dma;
void emit_transfer(emit_writer *e, const emit_dma *d);
/* bytes per cycle (Q20) on DDR from begin to end */
void emit_ddr(emit_writer *e, uint64_t begin, uint64_t end, uint64_t rate);
/* Does anybody ask how busy banks are? Of all of them, shares of the time, Q20;
 * of one that is. */
bool emit_wants_banks(const emit_writer *e);
void emit_banks(emit_writer *e, uint64_t begin, uint64_t end,
                const uint64_t share[MACH_MAX_BANKS]);
void emit_bank(void *user, uint32_t bank, uint64_t begin, uint64_t end);
/* What a SHAVE's caches move in a step from begin to end. */
void emit_lines(emit_writer *e, uint64_t begin, uint64_t end,
                uint64_t bytes_read, uint64_t bytes_written);
/* One line of them, whose place is known. */
void emit_line(emit_writer *e, uint64_t t, uint32_t place, uint64_t bytes,
               bool written);
void emit_active(emit_writer *e, uint64_t t, uint32_t n_shaves);

#endif
