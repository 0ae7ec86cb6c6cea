/* Addresses that walk: which accesses of a SHAVE program step through memory
 * with their loop, however the source says so: an index, a pointer that is
 * advanced, a counter times a stride. */
#ifndef VPU_RUNTIME_LINT_WALKS_H
#define VPU_RUNTIME_LINT_WALKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "isa/program.h"

typedef struct lint_walks lint_walks;

/* Finds the loops of a finished program. Both stay valid as long as f and the
 * arena. */
lint_walks *lint_walks_find(const isa_function *f, arena *a);
/* Does a load or store of block b move by the same step in each iteration of
 * the innermost loop around it? False also where the program does not show it:
 * an address that was loaded, or advanced under a condition. */
bool lint_walks_access(const lint_walks *w, uint32_t b,
                       const isa_instr *access);

#endif
