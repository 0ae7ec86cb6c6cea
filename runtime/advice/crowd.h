/* Lines that push each other out of L2, in words. */
#ifndef VPU_RUNTIME_ADVICE_CROWD_H
#define VPU_RUNTIME_ADVICE_CROWD_H

#include "base/str.h"
#include "sim/exec/sample.h"
#include "sim/machine/crowding.h"

/* "16 lines of in0 (262144 bytes apart), 1 of in1" */
void crowd_lines(const exec_sample *x, const mach_crowding *c, str *out);

#endif
