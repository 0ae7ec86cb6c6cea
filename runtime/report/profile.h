/* `vpu run --profile`: where a run's cycles went, line by line. */
#ifndef VPU_RUNTIME_REPORT_PROFILE_H
#define VPU_RUNTIME_REPORT_PROFILE_H

#include <jansson.h>

#include "runtime/report/report.h"

/* Nothing below does anything for a run without profile. */

/* A table per stage of the `most` lines with most cycles; what they leave out
 * is one more row, so each table adds up. */
void report_profile_text(const report_source *r, uint32_t most, str *out);
/* All rows of one stage, most cycles first; NULL when it has none. */
json_t *report_profile_json(const report_source *r, uint32_t stage);
/* Folded stacks of all stages, sorted: "kernel;variant;phase;file.cl:7;cause
 * cycles" (docs/formats.md). */
void report_profile_folded(const report_source *r, str *out);

#endif
