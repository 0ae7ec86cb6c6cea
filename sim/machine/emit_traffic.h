/* Who moves what to and from DDR, tensor by tensor, as counters of a trace.
 * Private to sim/machine.
 *
 * Tracks of the group "buffers" in "device": "NAME read" and "NAME written",
 * bytes per cycle, of the tensors with most traffic; "others read" and "others
 * written" of the rest and of what lies in no tensor; "caches read" and "caches
 * written" are the lines that the SHAVEs' caches fetch and write back, whose
 * tensor is only known at transaction level. A transfer's bytes count evenly
 * from its begin to its end, a step's lines over the step. All of them together
 * are the launch's DDR bytes. */
#ifndef VPU_SIM_MACHINE_EMIT_TRAFFIC_H
#define VPU_SIM_MACHINE_EMIT_TRAFFIC_H

#include "base/trace/writer.h"
#include "sim/machine/launch.h"

/* Tensors of a launch with tracks of their own; of all launches of a trace. */
enum { EMIT_LAUNCH_TENSORS = 12, EMIT_TRACE_TENSORS = 32 };

typedef struct emit_traffic emit_traffic;

/* NULL when memory is short; all functions accept that. */
emit_traffic *emit_traffic_create(const mach_launch *launch);
/* cycles: of the launch; 0: it did not finish, nothing is written. */
void emit_traffic_destroy(emit_traffic *x, trc_writer *w, trc_track device,
                          uint64_t cycles);

/* It is not known where. */
#define EMIT_NO_PLACE UINT64_MAX

/* From begin to end bytes pass from (or to, written) what has that place, an
 * address or EMIT_NO_PLACE. */
void emit_traffic_tensor(emit_traffic *x, uint64_t place, uint64_t begin,
                         uint64_t end, uint64_t bytes, bool written);
void emit_traffic_caches(emit_traffic *x, uint64_t begin, uint64_t end,
                         uint64_t bytes_read, uint64_t bytes_written);

#endif
