/* The report without a look into launches. Private to runtime/report. */
#ifndef VPU_RUNTIME_REPORT_REPORT_PRIV_H
#define VPU_RUNTIME_REPORT_REPORT_PRIV_H

#include "runtime/report/report.h"

/* Which way a batch ran, if there is one. */
void report_batch_text(const graph *g, str *out);
void report_plain_text(const report_source *r, str *out);
void report_plain_json(const report_source *r, str *out);

#endif
