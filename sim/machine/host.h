/* Hot loops that are there twice, once for processors that have AVX2: what they
 * are made of is INLINE, the function of such a processor MACH_HOST_AVX2.
 * Elsewhere both are the same. */
#ifndef VPU_SIM_MACHINE_HOST_H
#define VPU_SIM_MACHINE_HOST_H

#include <stdbool.h>

#define INLINE inline __attribute__((always_inline))

#ifdef __x86_64__
#define MACH_HOST_AVX2 __attribute__((target("avx2")))
#else
#define MACH_HOST_AVX2
#endif

static inline bool mach_host_has_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

#endif
