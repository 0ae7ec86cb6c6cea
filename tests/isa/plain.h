/* The interpreter once more, written as program.h and interp.h tell it, without
 * a thought of speed; results are isa_evaluate's. What isa/interp.h runs must
 * do the same. */
#ifndef VPU_TESTS_ISA_PLAIN_H
#define VPU_TESTS_ISA_PLAIN_H

#include "base/arena.h"
#include "isa/interp.h"

/* As isa_run. Calls isa_env.bundle, too; the arena is for what a run needs. */
isa_outcome plain_run(const isa_function *f, const isa_env *env, arena *a);

#endif
