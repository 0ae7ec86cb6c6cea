/* What the parameters allow: each ratio at both ends of every parameter's
 * range, and searches for machines that bring several ratios into their windows
 * at once. */
#ifndef TESTS_FIDELITY_EXPLORE_H
#define TESTS_FIDELITY_EXPLORE_H

#include <stdio.h>

#include "tests/fidelity/experiments.h"

/* A ratio that misses its window, and the ratios with which it cannot be in it
 * on any machine of the ranges, as far as a search finds. */
typedef struct {
    goal missed;
    goal with[3];
    int n_with;
} conflict;

extern const conflict conflicts[];
extern const int n_conflicts;

/* The conflict that explains why g is outside; NULL: there is none. */
const conflict *conflict_of(goal g);

void print_sensitivity(FILE *f, const bench *b);
/* For each conflict the nearest of n machines. Returns how many conflicts are
 * none: a machine with all of its ratios inside was found. */
int print_conflicts(FILE *f, const bench *b, int n);

#endif
