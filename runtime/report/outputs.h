/* What stands in outputs: range, mean, and how many elements are no numbers,
 * tiny, zero, or the largest there is. */
#ifndef VPU_RUNTIME_REPORT_OUTPUTS_H
#define VPU_RUNTIME_REPORT_OUTPUTS_H

#include <jansson.h>

#include "runtime/report/report.h"

typedef struct {
    uint64_t finite, nan, inf;
    uint64_t denormal, zero;
    /* Largest finite numbers of either sign; of integers the ends of their
     * range but zero. */
    uint64_t saturated;
    double min, max, mean; /* of the finite ones; without: +inf, -inf, 0 */
} report_values;

/* Of n elements. The same on every machine: sums are taken in their order, of
 * halves in the order of their bits. */
void report_values_of(tensor_dtype type, const void *data, uint64_t n,
                      report_values *out);

/* Of a run with BACKEND_INSPECT: a line for each output that holds NaN or
 * infinity; a list "outputs" in o. */
void report_outputs_text(const report_source *r, str *out);
void report_outputs_json(const report_source *r, json_t *o);

#endif
