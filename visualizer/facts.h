/* What a trace says about itself besides slices: its stages, where local
 * memory is, the kernels' source and what each line cost. */
#ifndef VPU_VISUALIZER_FACTS_H
#define VPU_VISUALIZER_FACTS_H

#include "visualizer/timeline.h"

typedef struct {
    const char *name, *kernel; /* the timeline's texts; "" = not told */
    uint32_t occurrence;       /* earlier stages of that name */
    uint64_t begin, end;
    uint32_t row; /* its slice; UINT32_MAX: the trace has no stages, this is
                     all of it */
    uint64_t slice;
    double ddr_capacity; /* bytes per tick, 0 = not told */
    uint64_t local_bytes, local_budget;
    uint32_t group_size[3], grid[3]; /* 0 = not told */
} facts_stage;

typedef struct {
    const char *file, *text;
    uint32_t line;
} facts_line;

/* Cycles of all SHAVEs on one line, in one phase. */
typedef struct {
    const char *stage, *file, *phase; /* "pre", "comp", "post" */
    uint32_t line;
    uint64_t time; /* begin of the stage */
    uint64_t executions, total, cause[TL_N_CAUSES];
} facts_cost;

/* What would make a stage faster, as the report says. Texts "", line 0 = not
 * told. */
typedef struct {
    const char *stage, *rule, *file, *text, *knob;
    uint64_t time; /* in the stage */
    uint32_t rank; /* 1: what saves most */
    uint32_t line;
    tl_class cause;         /* that it saves most of; TL_N_CAUSES = not told */
    uint64_t before, after; /* cycles of the stage */
} facts_advice;

typedef struct {
    uint64_t begin, end;
} facts_stretch;

typedef struct {
    facts_stage *stages; /* at least one, in order of time */
    uint32_t n_stages;
    facts_line *lines; /* in order of the trace: file by file */
    uint32_t n_lines;
    facts_cost *costs;
    uint32_t n_costs;
    facts_advice *advice; /* by rank */
    uint32_t n_advice;
    uint64_t *row_bytes; /* per row of the timeline: local memory it stands
                            for, 0 = none */
    /* When rows of SHAVEs and channels are on the critical path, in order: of
     * row i from path_at[i] up to path_at[i + 1]. None where the trace does not
     * say (level summary). 16 bytes a slice of the path at most. */
    facts_stretch *path;
    uint64_t *path_at, n_path;
} facts;

/* VPU_ERR_NOMEM */
vpu_status facts_make(const tl_timeline *tl, facts *out, vpu_error *err);
void facts_free(facts *f);

/* From the first stage's begin to the last one's end; without stages, all. A
 * stick's trace goes on for long before and after. */
uint64_t facts_work(const facts *f);
/* First and last work-item of a group in each dimension; false: not told. */
bool facts_items(const facts_stage *s, uint64_t group, uint64_t first[3],
                 uint64_t last[3]);
/* The stage at a time, or the last before it. */
const facts_stage *facts_stage_at(const facts *f, uint64_t t);
double facts_capacity(const facts *f); /* of DDR, highest; 0 = not told */
/* Cycles of a line in a stage, NULL stage = all, phase NULL = all phases. */
facts_cost facts_cost_of(const facts *f, const facts_stage *s,
                         const char *phase, const char *file, uint32_t line);
/* The line with most cycles (of that cause, TL_N_CAUSES = all) in a stage and
 * phase. False: there is no profile of it. */
bool facts_hottest(const facts *f, const facts_stage *s, const char *phase,
                   tl_class cause, facts_cost *out);
/* The stretches of the path on a row; of local memory those of its SHAVE. How
 * many. */
uint64_t facts_path(const facts *f, const tl_timeline *tl, uint32_t row,
                    const facts_stretch **out);
/* "" when the trace does not have it. */
const char *facts_text(const facts *f, const char *file, uint32_t line);

#endif
