/* What writing a trace costs a run. */
#ifndef VPU_TESTS_BENCH_TRACE_H
#define VPU_TESTS_BENCH_TRACE_H

#include <jansson.h>

/* Prints its rows, and a json object of the figures; exits when something
 * fails. vpu: the program. */
json_t *bench_trace(const char *vpu);

#endif
