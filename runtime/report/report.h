/* What `vpu run` tells about a run, as text and as JSON. */
#ifndef VPU_RUNTIME_REPORT_REPORT_H
#define VPU_RUNTIME_REPORT_REPORT_H

#include "runtime/backend/sim.h"
#include "runtime/graph/graph.h"
#include "base/str.h"

typedef struct {
    const graph *g;
    const backend_sim *run;
    const mach_desc *desc;
    exec_timing timing; /* without, there are no cycles to tell */
} report_source;

/* A table for people. */
void report_text(const report_source *r, str *out);
/* One JSON object, indented, newline at the end. */
void report_json(const report_source *r, str *out);

#endif
