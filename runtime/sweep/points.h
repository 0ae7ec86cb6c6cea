/* The points of a manifest: which values each one takes, and its words. */
#ifndef VPU_RUNTIME_SWEEP_POINTS_H
#define VPU_RUNTIME_SWEEP_POINTS_H

#include "runtime/sweep/manifest.h"

/* One dimension's value: the choice of that number, or of a range a number. */
typedef struct {
    size_t choice;
    double number;
} sweep_value;

/* Points of the manifest's method, for halving those of the first round.
 *
 * VPU_ERR_LIMIT  more than SWEEP_MAX_POINTS in all rounds */
vpu_status sweep_points_count(const sweep_manifest *m, uint64_t *out,
                              vpu_error *err);
/* Of halving all points that any round could have, round after round; else the
 * same as sweep_points_count. */
uint64_t sweep_points_candidates(const sweep_manifest *m, uint64_t count);
/* The values of point i, one a dimension; the same for a manifest whatever is
 * asked before. Latin hypercubes keep their columns in `a` between calls: give
 * one that lives as long as the plan. */
typedef struct sweep_plan sweep_plan;
sweep_plan *sweep_plan_open(const sweep_manifest *m, arena *a);
void sweep_plan_values(sweep_plan *p, uint64_t i, sweep_value *out);

/* The text of a value in its column, and the words of a point; in the arena. */
const char *sweep_value_text(const sweep_dimension *d, const sweep_value *v,
                             arena *a);
sweep_words sweep_point_words(const sweep_manifest *m,
                              const sweep_value *values, arena *a);

#endif
