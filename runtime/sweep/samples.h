/* Numbers in 0 .. 1 for points of a sweep; the same on every machine. */
#ifndef VPU_RUNTIME_SWEEP_SAMPLES_H
#define VPU_RUNTIME_SWEEP_SAMPLES_H

#include <stdint.h>

/* Uniform in 0 .. 1, 1 excluded: splitmix64 of seed, dimension and number. */
double samples_random(uint64_t seed, uint32_t dimension, uint64_t i);
/* 0 .. n - 1 in an order of the seed and the dimension. */
void samples_shuffle(uint64_t seed, uint32_t dimension, uint32_t n,
                     uint32_t *out);
/* Number i of the Sobol sequence in that dimension, below SAMPLES_SOBOL_MOST;
 * i = 0 is not the corner 0, which the sequence begins with. */
enum { SAMPLES_SOBOL_MOST = 10 };
double samples_sobol(uint32_t dimension, uint32_t i);

#endif
