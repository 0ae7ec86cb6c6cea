/* Shared inside of runtime/report: the report without a look into launches, and
 * figures of a launch. */
#ifndef VPU_RUNTIME_REPORT_REPORT_PRIV_H
#define VPU_RUNTIME_REPORT_REPORT_PRIV_H

#include <jansson.h>

#include "runtime/report/report.h"

/* Launch i, which has no kernel: a line, a stage of the JSON report. */
void report_native_text(const report_source *r, uint32_t i, str *out);
void report_native_json(const report_source *r, uint32_t i, json_t *o);
/* Which way a batch ran, if there is one. */
void report_batch_text(const graph *g, str *out);
/* What the host did in front of launch i, a row each. */
void report_hosts_text(const report_source *r, uint32_t i, str *out);
/* A list "hosts" in o, where there are any. */
void report_hosts_json(const report_source *r, json_t *o);
/* A row for each composed operation, and a list "operations" in o. */
void report_operations_text(const report_source *r, str *out);
void report_operations_json(const report_source *r, json_t *o);
/* What bounds a launch that ran with timing: rows, and fields of its stage. */
void report_bounds_text(const report_source *r, const backend_launch *l,
                        str *out);
void report_bounds_json(const report_source *r, const backend_launch *l,
                        json_t *o);
/* Its critical path, where steps were kept: a row, and a field of its stage. */
void report_path_text(const report_source *r, const backend_launch *l,
                      str *out);
void report_path_json(const report_source *r, const backend_launch *l,
                      json_t *o);
/* What would help, and a list "advice" in o, where steps were kept. */
void report_advice_text(const report_source *r, str *out);
void report_advice_json(const report_source *r, json_t *o);
void report_plain_text(const report_source *r, str *out);
void report_plain_json(const report_source *r, str *out);
/* Cycles of all SHAVEs with that cause. */
uint64_t report_cause_sum(const backend_launch *s, mach_cause c);

#endif
