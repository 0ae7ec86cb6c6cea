/* What a SHAVE has run becomes steps: its accesses go to the caches, its cycles
 * and what they counted into the queue. Of groups that run in rows (sim_row)
 * only where they end is noted first, and what they did alike is found here.
 *
 * Private to shave.c. Memory that is short is raised (base/oom.h), and so are
 * faults (fault.h). One thread at a time for each SHAVE. */
#ifndef VPU_SIM_EXEC_SETTLE_H
#define VPU_SIM_EXEC_SETTLE_H

#include "sim/exec/shave.h"

/* A step of that kind at the queue's end. */
mach_step *settle_push(exec_shave *s, mach_step_kind kind);
/* One of so many cycles and of the accesses looked up since the last. flush: it
 * is the launch's last, nothing but write-backs. */
const mach_step *settle_push_run(exec_shave *s, uint64_t cycles, bool flush);

/* Makes the steps of the groups that have run, and looks up what the one that
 * runs has logged. */
void settle_log(exec_shave *s);
/* The same, and everything since the last step becomes one. */
void settle_run(exec_shave *s);

/* An access that the log does not have: to the launch's sample, to observers of
 * stores. */
void settle_sample(exec_shave *s, const uint64_t *list, uint64_t n);
void settle_note_store(const exec_shave *s, uint32_t addr, uint32_t bytes);

#endif
