/* `vpu run --profile`: where a run's cycles went, line by line. */
#ifndef VPU_RUNTIME_REPORT_PROFILE_H
#define VPU_RUNTIME_REPORT_PROFILE_H

#include <jansson.h>

#include "runtime/report/report.h"

/* One kernel's profile: what it is called, and where its text is. */
typedef struct {
    const char *name, *kernel, *variant;
    const char *path, *text; /* text NULL: it is in the file */
    uint32_t n_shaves;
    uint64_t shave_cycles; /* of all SHAVEs together */
    const exec_profile *rows;
} report_profile_stage;

/* The table of the `most` lines with most cycles; all rows, most cycles first.
 */
void report_profile_table(const report_profile_stage *s, uint32_t most,
                          str *out);
json_t *report_profile_rows(const report_profile_stage *s);

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
