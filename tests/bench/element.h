/* What an element of a layer on DDR costs on one host thread, the timing model
 * on, beside plain C that computes the same. */
#ifndef VPU_TESTS_BENCH_ELEMENT_H
#define VPU_TESTS_BENCH_ELEMENT_H

#include <jansson.h>

/* Prints its rows and returns a JSON array of the figures; exits when something
 * fails. vpu: the program. */
json_t *bench_element(const char *vpu);

#endif
