/* Shared by report.c, report_json.c and report_junit.c. */
#ifndef VPU_RUNTIME_DIFF_REPORT_PRIV_H
#define VPU_RUNTIME_DIFF_REPORT_PRIV_H

#include "runtime/diff/report.h"

typedef struct {
    const char *title, *key;
    double value, limit;
} diff_metric_row;

/* mvNCCheck's four, with the limits in force, or its own. */
void diff_metric_rows(const diff_tensor *t, diff_metric_row *rows);
/* "[0,1,2,3]" */
char *diff_index_text(const tensor_desc *d, uint64_t index, arena *a);
/* Cells with failures, and the worst one. */
uint64_t diff_groups_failed(const diff_groups *g, uint32_t *worst);

#endif
