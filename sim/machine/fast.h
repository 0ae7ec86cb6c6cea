/* The fast ways of the cache model, as bits of mach_desc.fast_cache. */
#ifndef VPU_SIM_MACHINE_FAST_H
#define VPU_SIM_MACHINE_FAST_H

typedef enum {
#define WAY(name, bit, about) MACH_WAY_##name = (bit),
#include "sim/machine/fast.def"
#define WAY(name, bit, about) +(bit)
    MACH_ALL_WAYS = 0
#include "sim/machine/fast.def"
} mach_way;

#endif
