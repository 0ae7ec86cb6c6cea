/* From the work of a network's stage to time: the Neural Compute Engine, SHAVEs
 * that run the vendor's own code, copies; side by side where a stage is
 * injected into another, over the DDR of the machine.
 *
 * A descriptor of the engine begins with nce_descriptor cycles, in which it is
 * fetched and the engine set up, and its weights arrive; then the array
 * computes. A stage's units begin together, native_stage cycles after the one
 * before; it ends with the last of them. Bytes on DDR are flows
 * (sim/machine/flow.h), so that units share it.
 *
 * An executor runs the stages of an inference one after the other. Executors
 * have units of their own, each an engine and its SHAVEs, and share the DDR. A
 * kernel's launch has been timed before, alone: beside another executor it is
 * one flow of all its bytes over all its cycles.
 *
 * Pure functions of their arguments; any thread. */
#ifndef VPU_SIM_MACHINE_STAGE_H
#define VPU_SIM_MACHINE_STAGE_H

#include "base/err.h"
#include "base/trace/writer.h"
#include "sim/machine/desc.h"
#include "sim/machine/launch.h"

typedef struct {
    uint64_t cycles; /* of the array */
    uint64_t weight_bytes;
    uint64_t ddr_bytes; /* of data that lie in DDR, moved while it computes */
} mach_descriptor;

/* What one unit does of a stage. */
typedef struct {
    enum {
        MACH_WORK_NCE,
        MACH_WORK_SHAVE,
        MACH_WORK_COPY,
        MACH_WORK_LAUNCH, /* of a kernel, whose cycles are known already */
        MACH_WORK_NOTHING
    } unit;
    const char *name, *type;            /* for the timeline; borrowed */
    const mach_descriptor *descriptors; /* NCE */
    uint32_t n_descriptors;
    uint32_t n_shaves;        /* SHAVE: 1 to the machine's */
    double issue;             /* SHAVE: cycles, of all of them */
    uint64_t cycles;          /* LAUNCH: from its beginning to its end, alone */
    uint64_t bytes;           /* COPY: moved */
    uint32_t lines;           /* COPY: runs of bytes */
    uint64_t ddr_in, ddr_out; /* SHAVE, COPY, LAUNCH: bytes on DDR */
} mach_work;

enum { MACH_MAX_WORKS = 2, MACH_MAX_EXECUTORS = 4 };

typedef struct {
    const mach_work *works; /* units that begin together; borrowed */
    uint32_t n;             /* 1 to MACH_MAX_WORKS */
} mach_stage;

/* The time of a stage that begins at start_cycle of the device's clock; trace
 * may be NULL. Of the profile what is not of these units is 0.
 *
 * VPU_ERR_INVALID  more works than MACH_MAX_WORKS, SHAVEs the machine lacks, a
 *                  launch, whose time is known */
vpu_status mach_stage_run(const mach_desc *desc, const mach_work *works,
                          uint32_t n, uint64_t start_cycle, trc_writer *trace,
                          mach_profile *profile, vpu_error *err);

/* How inferences do that run at once, in cycles: the mean of their length, and
 * of the time from the end of one to the end of the next, whichever executors
 * they ran in. */
typedef struct {
    double latency, period;
} mach_executors_result;

/* The same stages again and again in n executors (1 to MACH_MAX_EXECUTORS),
 * each of which begins an inference `fixed` cycles after the end of the one
 * before (0 = at once), which belong to its latency. The first ones begin one
 * after the other within the time of one inference alone, and what is measured
 * begins once all are busy. Each executor's timeline is of its second
 * inference. stage_cycles, if any: of each stage, the mean of its length.
 *
 * VPU_ERR_INVALID  no stage, more executors than the machine has engines, more
 *                  SHAVEs than it has for all of them, more works than
 *                  MACH_MAX_WORKS */
vpu_status mach_executors_run(const mach_desc *desc, const mach_stage *stages,
                              uint32_t n_stages, uint32_t n, uint64_t fixed,
                              trc_writer *trace, double *stage_cycles,
                              mach_executors_result *out, vpu_error *err);

#endif
