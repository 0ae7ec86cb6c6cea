/* Figures of the simulator alone that tell how it grows. */
#ifndef VPU_TESTS_BENCH_SCALE_H
#define VPU_TESTS_BENCH_SCALE_H

#include <jansson.h>

/* Each prints its rows and returns a JSON array of the figures; exits when
 * something fails. vpu: the program. */

/* Bundles that one thread interprets in a second. */
json_t *bench_interpreter(const char *vpu);
/* Many work-groups, and many work-items: time and memory by their number. */
json_t *bench_growth(const char *vpu);
/* Long kernels and wide switches: seconds of a cold compilation. */
json_t *bench_compile(const char *vpu);

#endif
