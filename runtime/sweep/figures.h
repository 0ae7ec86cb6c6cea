/* The figures of a point: numbers of its report, one a column. */
#ifndef VPU_RUNTIME_SWEEP_FIGURES_H
#define VPU_RUNTIME_SWEEP_FIGURES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { SWEEP_MAX_FIGURES = 32 };

/* Names of the columns, in order; NULL: i is too large. */
const char *sweep_figure_name(size_t i);
/* The number of that column; -1: there is none. */
int sweep_figure_find(const char *name);
/* What a JSON report of vpu run has of them, a new reference. */
json_t *sweep_figures_of(const json_t *report);

#endif
