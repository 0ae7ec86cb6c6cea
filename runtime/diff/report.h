/* What a comparison found, for people, programs and CI. */
#ifndef VPU_RUNTIME_DIFF_REPORT_H
#define VPU_RUNTIME_DIFF_REPORT_H

#include "base/str.h"
#include "runtime/diff/diff.h"

/* A table, then each buffer that differs (all of them when verbose), and the
 * verdict as the last line. */
void diff_report_text(const diff_report *r, bool verbose, str *out);
/* One JSON object; docs/diff.md says what is in it. Newline at the end. */
void diff_report_json(const diff_report *r, str *out);
/* A JUnit test suite with a test case per buffer. */
void diff_report_junit(const diff_report *r, str *out);

/* A PNG of where a and b differ, HEAT_SIDE pixels wide and high at most: the
 * tensor's last two dimensions are the picture, the planes of the others side
 * by side; a pixel is the worst of the elements it stands for, dark blue for
 * equal, then from blue over yellow to red by the logarithm of the ULPs, white
 * for NaN against a number. Same tensors, same bytes.
 *
 * VPU_ERR_IO  the file cannot be written */
enum { HEAT_SIDE = 2048 };
vpu_status diff_heat_map(const char *path, const diff_pair *pair,
                         vpu_error *err);

#endif
