/* Which choices are tried, and in which order. Knows nothing of launches: what
 * a choice costs is told by a function. Private to runtime/tune. */
#ifndef VPU_RUNTIME_TUNE_SEARCH_H
#define VPU_RUNTIME_TUNE_SEARCH_H

#include "runtime/tune/tune.h"

typedef struct {
    tune_mode mode;
    const tune_choice *choices; /* the first is the launch's own */
    size_t n_choices;
    uint32_t global[3];
    uint32_t factor; /* of the vectorizer; 0 = not known */
    uint32_t shaves; /* that groups are split over; 0 = not known */
    /* What choice i costs; UINT64_MAX: the launch cannot have it. Called at
     * most once for each choice, and not for the first. */
    vpu_status (*cost)(void *user, size_t i, uint64_t *out, vpu_error *err);
    void *user;
    uint64_t own_cost; /* of the first choice */
} tune_search;

/* The best choice tried, the earlier one of equals; never worse than the first.
 * Errors are those of `cost`. */
vpu_status tune_search_run(const tune_search *s, size_t *best, vpu_error *err);

#endif
