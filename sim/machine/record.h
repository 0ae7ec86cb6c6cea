/* The steps of a launch, kept, and replayed on another machine: what the launch
 * would take there, without running its work-groups again.
 *
 * Steps hold what the groups did and what their accesses did to the caches, no
 * time. So a replay is exact, the cycles of a full run, for every parameter of
 * a machine but those of mach_record_depends: split of the groups, caches,
 * banks. An edited record (mach_record_add) answers what another program would
 * take.
 *
 * A SHAVE's part of a record is written by one thread at a time; once written,
 * any number of threads may replay it. */
#ifndef VPU_SIM_MACHINE_RECORD_H
#define VPU_SIM_MACHINE_RECORD_H

#include <stddef.h>

#include "base/err.h"
#include "base/trace/writer.h"
#include "sim/machine/desc.h"
#include "sim/machine/launch.h"

typedef struct mach_record mach_record;

/* Empty. It holds max_bytes of steps at most, some 100 for each of a group,
 * also where a group stands for others. */
mach_record *mach_record_create(uint64_t max_bytes);
void mach_record_free(mach_record *r); /* NULL is fine */

/* Empties r, for the steps of a launch with like's figures. It is complete
 * unless its bytes are too few, memory is short, the launch is timed line by
 * line, or mach_record_spoil says so. */
void mach_record_begin(mach_record *r, const mach_launch *like);
/* Appends a copy of the step to those of a SHAVE, groups whole and in order.
 * False: r is full, or memory is short; it is not complete then. */
bool mach_record_add(mach_record *r, uint32_t shave, const mach_step *step);
/* The same of n steps, by the thread that ran the SHAVE: threads may do so at
 * once, each for a SHAVE of its own. Whether all fits is looked at by
 * mach_record_settle, which one thread calls when none of them is at work. */
void mach_record_take(mach_record *r, uint32_t shave, const mach_step *steps,
                      uint32_t n);
void mach_record_settle(mach_record *r);
/* The launch has come to no end: r is not complete. */
void mach_record_spoil(mach_record *r);
bool mach_record_complete(const mach_record *r);

/* The figures of the launch; refill and watch are not set. */
const mach_launch *mach_record_launch(const mach_record *r);

/* A place in the steps of one SHAVE. */
typedef struct {
    const mach_record *record;
    uint32_t shave;
    size_t at;
    /* A group that stands for others comes once for each: where it begins, how
     * many are to come, how many came. */
    size_t group;
    uint32_t more, passed;
} mach_record_cursor;

mach_record_cursor mach_record_steps(const mach_record *r, uint32_t shave);
/* False: there are no more. */
bool mach_record_next(mach_record_cursor *c, mach_step *out);

/* What a launch with these steps takes. watch, trace: as of mach_run; may be
 * NULL.
 *
 * VPU_ERR_INVALID  r is not complete; the machine has fewer SHAVEs than the
 *                  launch used
 * VPU_ERR_NOMEM    or memory was short when the steps were recorded
 * else             of mach_run */
vpu_status mach_record_replay(const mach_record *r, const mach_desc *desc,
                              trc_writer *trace, const mach_watch *watch,
                              mach_profile *out, vpu_error *err);

/* Would other steps be recorded on a machine where this parameter (a row of
 * params.def) is another? */
bool mach_record_depends(const char *parameter);

#endif
