/* What a sweep's results say: the best points, which of them no other one
 * beats, and which parameter matters. */
#ifndef VPU_RUNTIME_SWEEP_REPORT_H
#define VPU_RUNTIME_SWEEP_REPORT_H

#include "runtime/sweep/gather.h"

enum { SWEEP_MAX_OBJECTIVES = 8 };

/* A point's value in one dimension. */
typedef struct {
    const char *text;
    uint32_t level; /* number of the choice; of a range an eighth of it */
    bool ordered;   /* text is a number, or a shape, of which elements count */
    double number;
} sweep_cell;

typedef struct {
    uint64_t number;                     /* of the point */
    sweep_cell *cells;                   /* one a dimension */
    double values[SWEEP_MAX_OBJECTIVES]; /* NaN: it has none */
} sweep_result;

/* All rows in memory, in the order of points. */
typedef struct {
    const sweep_manifest *manifest;
    size_t figures[SWEEP_MAX_OBJECTIVES], n_objectives; /* small is good */
    sweep_result *rows;
    size_t n, cap;
    sweep_gathered gathered;
} sweep_table;

/* Everything in the arena. Errors of sweep_each_row. */
vpu_status sweep_table_read(const sweep_store *s, const size_t *figures,
                            size_t n_figures, arena *a, sweep_table *out,
                            vpu_error *err);

/* Rows that no other row beats: none is at least as good in all objectives, and
 * better in one. Of equal rows the first. Sorted by the first objective. */
void sweep_pareto(const sweep_table *t, arena *a, const sweep_result ***out,
                  size_t *n);

/* One dimension's part in an objective. */
typedef struct {
    size_t dim;
    uint32_t n_levels;
    double *means;   /* of each level, NaN: no point has it */
    double spread;   /* largest mean less smallest, over the mean of all */
    bool ordered;    /* then: */
    double spearman; /* rank correlation, -1 .. 1 */
} sweep_effect;

/* Of all dimensions with more than one value, the largest spread first. */
void sweep_effects(const sweep_table *t, size_t objective, arena *a,
                   sweep_effect **out, size_t *n);
/* The text of a level: the choice, or the range's part. In the arena. */
const char *sweep_level_text(const sweep_dimension *d, uint32_t level,
                             arena *a);
uint32_t sweep_levels(const sweep_dimension *d);

#endif
