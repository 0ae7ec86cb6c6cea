/* From activity to time: the discrete-event model of SHAVEs, DMA channels and
 * DDR bandwidth.
 *
 * Work-groups are executed elsewhere (sim/exec) and leave behind *steps*: what
 * each group did, without time. The engine replays the steps of all SHAVEs
 * against the machine's shared resources. It works at flow level: a step that
 * moves DDR bytes, and a DMA transfer, is a flow with a highest rate; the rates
 * of all running flows are shared max-min fairly under the DDR bandwidth and
 * change only when a flow starts or ends. (At transaction level, for
 * comparison, every line is an event instead.) All time is integer cycles and
 * all rates fixed point, so a run's cycles are the same everywhere.
 *
 * Phases of the groups g0, g1, … of one SHAVE, when the kernel has DMA phases
 * (double buffered, slot = position in the SHAVE's list modulo 2):
 *
 *   SHAVE   pre(0)  pre(1) comp(0) post(0)  pre(2) comp(1) post(1)  pre(3) …
 *   DMA        [in 0][in 1]         [out 0]   [in 2]        [out 1]
 *
 * comp(n) starts when the transfers of pre(n) and of post(n-2) have ended;
 * pre(n+1) is issued before comp(n), after comp(n-1). Without DMA phases a
 * group is its comp phase alone.
 *
 * Not thread safe; one engine, one thread. */
#ifndef VPU_SIM_MACHINE_ENGINE_H
#define VPU_SIM_MACHINE_ENGINE_H

#include "base/err.h"
#include "base/trace/writer.h"
#include "sim/machine/desc.h"
#include "sim/machine/launch.h"

/* Replay one launch. trace may be NULL.
 *
 * VPU_ERR_INVALID  n_shaves is 0 or above the machine's
 * VPU_ERR_INTERNAL refill gave a queue neither a group nor its end
 * VPU_ERR_NOMEM
 * VPU_ERR_LIMIT  max_cycles reached (message: cycles, groups done, what each
 *                SHAVE and DMA channel does or waits for)
 * else           what refill returned */
vpu_status mach_run(const mach_desc *desc, const mach_launch *launch,
                    trc_writer *trace, mach_profile *profile, vpu_error *err);

#endif
