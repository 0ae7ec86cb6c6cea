/* Shared inside of runtime/report: the report without a look into launches, and
 * figures of a launch. */
#ifndef VPU_RUNTIME_REPORT_REPORT_PRIV_H
#define VPU_RUNTIME_REPORT_REPORT_PRIV_H

#include <jansson.h>

#include "runtime/advice/advice.h"
#include "runtime/advice/path.h"
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
/* What is found out about the launches' time before anything is written, since
 * it may find memory short. */
typedef struct {
    bool has_path;
    path_result path;
    const char *file; /* of its stalls; line 0 = not known */
    uint32_t line;
} report_stage_insight;

/* Nothing where no steps were kept. */
struct report_insight {
    const report_stage_insight *stages; /* of each launch */
    advice_findings advice;
};

/* What bounds launch i, which ran with timing, and its critical path: rows, and
 * fields of its stage. */
void report_bounds_text(const report_source *r, uint32_t i,
                        const report_insight *x, str *out);
void report_bounds_json(const report_source *r, uint32_t i,
                        const report_insight *x, json_t *o);
/* What would help, and a list "advice" in o, where steps were kept. */
void report_advice_text(const report_source *r, const report_insight *x,
                        str *out);
void report_advice_json(const report_source *r, const report_insight *x,
                        json_t *o);
void report_plain_text(const report_source *r, str *out);
void report_plain_json(const report_source *r, str *out);
/* Cycles of all SHAVEs with that cause. */
uint64_t report_cause_sum(const backend_launch *s, mach_cause c);

#endif
