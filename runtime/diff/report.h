/* What a comparison found, for people, programs and CI. Same report, same
 * bytes. */
#ifndef VPU_RUNTIME_DIFF_REPORT_H
#define VPU_RUNTIME_DIFF_REPORT_H

#include "runtime/diff/diff.h"
#include "sim/base/str.h"

/* Several lines for a terminal. */
void diff_report_text(const diff_report *r, str *out);
/* One JSON object, as docs/diff.md describes it; ends with a newline. */
void diff_report_json(const diff_report *r, str *out);

/* A comparison as a case of a suite. */
typedef struct {
    const char *name;
    const diff_report *report;
    double seconds; /* host time; negative = left out */
} diff_case;

/* JUnit XML: one testsuite, a testcase each, <failure> when different, <error>
 * when it could not run. Bytes that XML does not allow become '?'. */
void diff_report_junit(const char *suite, const diff_case *cases, uint32_t n,
                       str *out);

/* A PNG of where a tensor differs: across the last dim, down all others in
 * order; grey where equal, yellow to red by the share of elements that differ.
 *
 * VPU_ERR_IO       it cannot be written
 * VPU_ERR_INVALID  the tensor has no places (no_places) */
vpu_status diff_heat_write(const char *path, const diff_tensor *t,
                           vpu_error *err);

/* "1 of 5 elements differ, ..."; one line, in a. */
char *diff_summary(const diff_tensor *t, arena *a);
/* Of diff_tolerance_parse's form. In a. */
char *diff_tolerance_text(const diff_tolerance *t, arena *a);

#endif
