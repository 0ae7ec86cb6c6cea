/* What compiling one kernel may cost: of each of its two processes, clang's and
 * ours. */
#ifndef VPU_SIM_COMPILER_FRONT_BUDGET_H
#define VPU_SIM_COMPILER_FRONT_BUDGET_H

#include "base/child.h"

enum { BUDGET_SECONDS = 60 };
#define BUDGET_BYTES ((uint64_t)2 << 30)

/* Those given, or for NULL the defaults above. */
static inline child_limits budget_or_default(const child_limits *given)
{
    return given ? *given
                 : (child_limits){.seconds = BUDGET_SECONDS,
                                  .bytes = BUDGET_BYTES};
}

/* Behind a message that one of them was exceeded. */
#define BUDGET_TIME_ADVICE                                            \
    "; a loop that is unrolled very often, or very many statements? " \
    "--compile-timeout gives more"
#define BUDGET_MEMORY_ADVICE                                          \
    "; a loop that is unrolled very often, or very many statements? " \
    "--compile-memory gives more"

#endif
