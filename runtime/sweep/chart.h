/* Pictures of a sweep: a heat map over two dimensions, lines over one. */
#ifndef VPU_RUNTIME_SWEEP_CHART_H
#define VPU_RUNTIME_SWEEP_CHART_H

#include "runtime/sweep/report.h"

enum { SWEEP_MOST_CELLS = 64 }; /* of a heat map, in a row or column */

typedef struct {
    const sweep_table *table;
    size_t objective;
    size_t x, y; /* dimensions; lines: y is what tells them apart */
    bool has_y;  /* lines alone may do without */
} sweep_chart;

/* Means of the objective as an SVG or PNG file, by the end of its name.
 *
 * VPU_ERR_INVALID  another end of the name; more than SWEEP_MOST_CELLS values
 * VPU_ERR_IO       no fonts, cannot be written */
vpu_status sweep_chart_heat(const sweep_chart *c, const char *path,
                            vpu_error *err);
vpu_status sweep_chart_lines(const sweep_chart *c, const char *path,
                             vpu_error *err);

#endif
