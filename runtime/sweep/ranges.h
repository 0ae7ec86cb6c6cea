/* Ranges of numbers in manifests. */
#ifndef VPU_RUNTIME_SWEEP_RANGES_H
#define VPU_RUNTIME_SWEEP_RANGES_H

#include <stdbool.h>

#include "base/arena.h"

typedef struct {
    double low, high;
    bool whole;           /* its numbers have no fraction */
    unsigned long long n; /* how many of them; 0: not said */
} sweep_range;

/* "60..200" or "60..200/5". False: the text is none. */
bool sweep_range_read(const char *text, arena *a, sweep_range *out);
/* In the arena; whole: rounded. */
const char *sweep_number_text(arena *a, double x, bool whole);

#endif
