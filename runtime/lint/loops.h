/* Loops of a SHAVE program, and what an iteration costs before and after a
 * change of the source. */
#ifndef VPU_RUNTIME_LINT_LOOPS_H
#define VPU_RUNTIME_LINT_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/program.h"

/* Does block b repeat itself? */
bool loops_is_loop(const isa_function *f, uint32_t b);

/* Issue cycles of an iteration of the loop at source lines first..last, as it
 * is written: of one block that repeats itself, divided by how many iterations
 * `before` or `after` does at once. Of several such blocks the one that does
 * most at once counts. False: either program has no such block, or the two
 * share no access to count by. */
bool loops_compare(const isa_function *before, const isa_function *after,
                   uint32_t first, uint32_t last, double *cycles_before,
                   double *cycles_after);

#endif
