/* Lines that push each other out of L2, accesses that meet in a bank of DDR, in
 * words. */
#ifndef VPU_RUNTIME_ADVICE_CROWD_H
#define VPU_RUNTIME_ADVICE_CROWD_H

#include "base/str.h"
#include "sim/exec/sample.h"
#include "sim/machine/crowding.h"

/* "16 lines of in0 (262144 bytes apart), 1 of in1" */
void crowd_lines(const exec_sample *x, const mach_crowding *c, str *out);

/* "accesses to in0 lie 262144 bytes apart, a multiple of the 4 banks' rows of
 * 2048 bytes, so that they meet in one bank"; without the multiple, the
 * distance alone. Nothing where no buffer is known. */
void crowd_banks(const exec_sample *x, const mach_desc *desc, str *out);

#endif
