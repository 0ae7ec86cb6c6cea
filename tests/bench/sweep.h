/* Sweeps beside a loop of one process over the same points. */
#ifndef VPU_TESTS_BENCH_SWEEP_H
#define VPU_TESTS_BENCH_SWEEP_H

#include <jansson.h>

/* Points a second of a loop through the library, of `vpu sweep` with one and
 * with two processes: prints them, and gives them as JSON. */
json_t *bench_sweep(const char *vpu);

#endif
