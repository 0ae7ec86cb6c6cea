/* What a SHAVE's local memory holds, as tracks. Private to sim/machine.
 *
 * "SHAVE n local" is what there is once, in use from a launch's first group on
 * the SHAVE to its last. Of a kernel with DMA phases "SHAVE n local 0" and "…
 * 1" are the two sets of buffers: a group takes one from the begin of its
 * preload until its last transfer has ended, or the next group's preload
 * begins, which need not wait for results to leave. Slices carry their bytes.
 *
 * Not merged, there are counters "SHAVE n" in the group "local memory", too:
 * the share, 0 to 1, of what a group may use that is in use. */
#ifndef VPU_SIM_MACHINE_EMIT_LOCAL_H
#define VPU_SIM_MACHINE_EMIT_LOCAL_H

#include "base/trace/writer.h"
#include "sim/machine/desc.h"
#include "sim/machine/launch.h"

typedef struct emit_local emit_local;

/* merged: one slice per track and launch. NULL when the launch uses no local
 * memory, or memory is short; all functions accept that. */
emit_local *emit_local_create(trc_writer *w, trc_track device,
                              const mach_launch *launch, uint32_t budget,
                              bool merged);
/* Writes what is still open. cycles: of the launch; 0: it did not finish, no
 * counters are written. */
void emit_local_destroy(emit_local *m, uint64_t cycles);

void emit_local_phase(emit_local *m, uint32_t shave, uint64_t t,
                      uint64_t group);
void emit_local_phase_end(emit_local *m, uint32_t shave, uint64_t t);
/* Is nothing told apart by group? Then the phases of several, the first of
 * which begins and the last ends there. */
bool emit_local_merges(const emit_local *m);
void emit_local_groups(emit_local *m, uint32_t shave, uint64_t begin,
                       uint64_t end);
/* A transfer of that group ended. */
void emit_local_transfer(emit_local *m, uint32_t shave, uint64_t t,
                         uint64_t group);

#endif
