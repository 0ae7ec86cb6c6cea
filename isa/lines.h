/* Whose cycle is it: every cycle of a program has one source line.
 *
 * A bundle's cycle belongs to its operation that comes first in program order,
 * of those that have a line. A cycle in which nothing issues belongs, the first
 * that applies, to
 *
 *   - a call that still runs,
 *   - the operation whose result the next bundle waits for: of those still on
 *     their way, the one that lands last (in a software-pipelined kernel also
 *     one of the iteration before),
 *   - the branch whose delay slot it is,
 *   - the next bundle,
 *   - at a block's end, the operation whose result lands last.
 *
 * What has no line (copies and counters the compiler adds) counts for the cycle
 * in front of it in the block that has one, else for the one behind.
 *
 * So the wait for a load counts for the load, not for who uses it. */
#ifndef VPU_ISA_LINES_H
#define VPU_ISA_LINES_H

#include "isa/program.h"

/* lines[t] of each of the block's cycles; 0: the block names none. */
void isa_cycle_lines(const isa_function *f, uint32_t block, uint32_t *lines);

#endif
