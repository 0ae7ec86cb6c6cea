#include "runtime/tune/search.h"

typedef struct {
    const tune_search *s;
    size_t best;
    uint64_t best_cost;
} searching;

static vpu_status try_one(searching *x, size_t i, vpu_error *err)
{
    uint64_t cost;
    vpu_status st = x->s->cost(x->s->user, i, &cost, err);

    if (!st && cost < x->best_cost) {
        x->best = i;
        x->best_cost = cost;
    }
    return st;
}

vpu_status tune_search_run(const tune_search *s, size_t *best, vpu_error *err)
{
    searching x = {s, 0, s->own_cost};
    vpu_status st = VPU_OK;

    for (size_t i = 1; i < s->n_choices && !st; i++)
        st = try_one(&x, i, err);
    *best = x.best;
    return st;
}
