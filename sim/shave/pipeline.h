/* Software pipelining: single-block loops that count become a prologue, a
 * kernel the hardware repeats, and an epilogue, beside the loop as it was for
 * counts that are too small.
 *
 * The vendor's guide says unrolling is what triggers software pipelining
 * (docs/hardware.md, "OpenCL runtime"); so loops unrolled by #pragma are
 * candidates, and the loops over a group's items, which the device's binaries
 * have an unrolled variant of. Selection marks them (vp_block.may_pipeline). */
#ifndef VPU_SIM_SHAVE_PIPELINE_H
#define VPU_SIM_SHAVE_PIPELINE_H

#include "sim/shave/vprog.h"

/* What the host code needs to know of a pipelined loop. */
typedef struct {
    uint32_t ir;       /* basic block */
    uint32_t stages;   /* fewer iterations than that run the plain loop */
    uint32_t interval; /* initiation interval */
    uint32_t frame;    /* cycles besides interval * iterations */
} pipeline_loop;

/* Phis are gone. refused: per basic block, true = leave it alone. The list
 * found is in the program's arena. */
void pipeline_loops(vprog *p, const bool *refused, pipeline_loop **out,
                    size_t *n);

#endif
