/* What more host threads gain, and the share of a run that they cannot. */
#ifndef VPU_TESTS_BENCH_THREADS_H
#define VPU_TESTS_BENCH_THREADS_H

#include <jansson.h>

/* Prints its rows and returns a JSON array of the figures; exits when something
 * fails. vpu: the program. */
json_t *bench_threads(const char *vpu);

#endif
