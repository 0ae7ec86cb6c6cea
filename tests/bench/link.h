/* What the protocols of a stick cost, both ends in this process. */
#ifndef VPU_TESTS_BENCH_LINK_H
#define VPU_TESTS_BENCH_LINK_H

#include <jansson.h>

/* Prints its rows, and a json object of the figures; exits when something
 * fails. vpu: the program. */
json_t *bench_link(const char *vpu);

#endif
