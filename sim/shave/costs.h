/* Cycles of calls that are neither operations nor mathematical routines. */
#ifndef VPU_SIM_SHAVE_COSTS_H
#define VPU_SIM_SHAVE_COSTS_H

enum {
#define COST(name, cycles, src, about) COST_##name = (cycles),
#include "sim/shave/costs.def"
    COST_END
};

#endif
