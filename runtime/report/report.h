/* What `vpu run` tells about a run, as text and as JSON. */
#ifndef VPU_RUNTIME_REPORT_REPORT_H
#define VPU_RUNTIME_REPORT_REPORT_H

#include "base/str.h"
#include "base/trace/writer.h"
#include "runtime/backend/backend.h"
#include "runtime/graph/graph.h"

enum { REPORT_MAX_REPEAT = 64 };

/* Launches that are one operation for the user: n from first on. */
typedef struct {
    const char *name;
    uint32_t first, n;
} report_operation;

/* What bounds the launches of a run and what would help, found by replays. */
typedef struct report_insight report_insight;

typedef struct {
    const graph *graph;
    const backend *run;
    /* Of a run with BACKEND_INSPECT, whose launches tell all. */
    const mach_desc *desc;
    exec_timing timing; /* without, there are no cycles to tell */
    /* Of any other: `repeat` rows of graph->n_launches. */
    const backend_result *results;
    uint32_t repeat; /* 1 .. REPORT_MAX_REPEAT */
    /* Seconds of graph->hosts, by the host's clock; NULL = not known. */
    const double *hosts;
    /* Composed operations, outer ones in front of their parts. */
    const report_operation *operations;
    uint32_t n_operations;
    /* Inferences at once, 0 = nobody asked. */
    uint32_t n_executors;
    mach_executors_result executors;
    /* Of this run; NULL: each text finds it out anew. */
    const report_insight *insight;
} report_source;

/* Of a run with BACKEND_INSPECT. In the arena; memory that is short is raised
 * (base/oom.h). */
const report_insight *report_insight_of(const report_source *r, arena *a);

/* A table for people. */
void report_text(const report_source *r, str *out);
/* One JSON object, indented, newline at the end. */
void report_json(const report_source *r, str *out);
/* What would help, into the trace: on the track "advice" of the group "vpusim"
 * an instant for each finding, at the begin of its stage, with rank (1 saves
 * most), stage, rule, file without folders, line, cause, cycles, estimate, text
 * and knob. Nothing without an insight, nor at the level summary. */
void report_advice_trace(const report_source *r, trc_writer *w);

#endif
