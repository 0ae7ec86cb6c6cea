#include "runtime/tune/measure.h"

#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5 }; /* where seconds are measured */

/* --- opening -------------------------------------------------------------- */

static vpu_status check_device(const tune_bench *b, vpu_error *err)
{
    const backend_ops *ops = b->cfg->ops;
    const backend_caps *caps = ops->caps(b->b.self);

    if (!caps->stages)
        return err_set(err, VPU_ERR_UNSUPPORTED,
                       "backend %s runs a graph as a whole: its launches "
                       "cannot be tuned one by one",
                       ops->name);
    if (!caps->cycles && !caps->timed)
        return err_set(
            err, VPU_ERR_UNSUPPORTED,
            "backend %s has neither cycles nor a clock of its own "
            "to tell which size is faster%s",
            ops->name,
            backend_extras(ops) & BACKEND_MACHINE ? " (--timing none)" : "");
    return VPU_OK;
}

static vpu_status open_filled(tune_bench *b, vpu_error *err)
{
    vpu_status st = backend_open(b->cfg->ops, &b->run, &b->g, &b->b, err);

    if (!st)
        st = check_device(b, err);
    return st ? st : b->cfg->fill(b->cfg->fill_user, &b->b, err);
}

vpu_status tune_bench_open(const tune_config *cfg, const graph *g,
                           tune_bench *b, vpu_error *err)
{
    *b = (tune_bench){.cfg = cfg, .run = cfg->run, .g = *g};
    b->a = arena_create(0);
    b->g.shared_bytes = 0;
    b->run.trace = NULL;
    b->run.debug = NULL;
    b->run.check = NULL;
    b->run.print = NULL; /* once for each trial would be too often */
    b->before = arena_array(b->a, void *, g->n_buffers + 1);
    b->after = arena_array(b->a, void *, g->n_buffers + 1);
    b->touched = arena_array(b->a, bool, g->n_buffers + 1);
    return open_filled(b, err);
}

void tune_bench_close(tune_bench *b)
{
    backend_close(&b->b);
    arena_destroy(b->a);
    b->a = NULL;
}

const sim_kernel *tune_bench_kernel(const tune_bench *b, uint32_t i)
{
    return b->b.ops->inspect ? backend_launch_of(&b->b, i)->kernel : NULL;
}

/* --- contents ------------------------------------------------------------- */

static bool has_contents(const tune_bench *b, uint32_t i)
{
    return b->g.buffers[i].role != GRAPH_CONST;
}

static vpu_status read_into(const tune_bench *b, void **to, bool touched,
                            vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < b->g.n_buffers && !st; i++)
        if (has_contents(b, i) && (!touched || b->touched[i]))
            st = b->b.ops->read(b->b.self, i, to[i], err);
    return st;
}

static vpu_status write_from(const tune_bench *b, void *const *from,
                             bool touched, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < b->g.n_buffers && !st; i++)
        if (has_contents(b, i) && (!touched || b->touched[i]))
            st = b->b.ops->write(b->b.self, i, from[i], err);
    return st;
}

static void make_room(tune_bench *b)
{
    for (uint32_t i = 0; i < b->g.n_buffers; i++) {
        uint64_t n = b->g.buffers[i].bytes;

        if (!has_contents(b, i) || b->before[i])
            continue;
        b->before[i] = arena_push(b->a, n, 1, 64);
        b->after[i] = arena_push(b->a, n, 1, 64);
    }
}

static void find_touched(tune_bench *b)
{
    const graph_launch *l = &b->g.launches[b->launch];

    memset(b->touched, 0, b->g.n_buffers * sizeof *b->touched);
    for (uint32_t k = 0; k < l->n_args; k++)
        if (l->args[k].kind == GRAPH_ARG_BUFFER)
            b->touched[l->args[k].buffer] = true;
}

/* --- running -------------------------------------------------------------- */

static bool is_cancelled(const tune_bench *b)
{
    return b->run.how.cancel && atomic_load(b->run.how.cancel);
}

static int by_value(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return a < b ? -1 : a > b;
}

static vpu_status run_once(tune_bench *b, uint64_t *cost, vpu_error *err)
{
    backend_result r;
    vpu_status st;

    if (is_cancelled(b))
        return err_set(err, VPU_ERR_STOPPED, "%s: cancelled",
                       b->g.launches[b->launch].name);
    st = write_from(b, b->before, true, err);
    if (!st)
        st = backend_run(&b->b, b->launch, 1, &r, err);
    if (!st)
        *cost = b->b.ops->caps(b->b.self)->cycles ? r.cycles
                                                  : (uint64_t)(r.seconds * 1e9);
    return st;
}

/* Cycles are the same every time; of seconds the median. */
static vpu_status run_measured(tune_bench *b, uint64_t *cost, vpu_error *err)
{
    int n = b->b.ops->caps(b->b.self)->cycles ? 1 : REPEATS;
    uint64_t costs[REPEATS];
    vpu_status st = VPU_OK;

    b->runs++;
    for (int i = 0; i < n && !st; i++)
        st = run_once(b, &costs[i], err);
    if (st)
        return st;
    qsort(costs, (size_t)n, sizeof *costs, by_value);
    *cost = costs[n / 2];
    return VPU_OK;
}

vpu_status tune_bench_pass(tune_bench *b, uint32_t i, vpu_error *err)
{
    if (is_cancelled(b))
        return err_set(err, VPU_ERR_STOPPED, "%s: cancelled",
                       b->g.launches[i].name);
    return backend_run_one(&b->b, i, err);
}

vpu_status tune_bench_begin(tune_bench *b, uint32_t i, uint64_t *cost,
                            vpu_error *err)
{
    vpu_status st;

    b->launch = i;
    make_room(b);
    find_touched(b);
    st = read_into(b, b->before, false, err);
    if (!st)
        st = run_measured(b, cost, err);
    return st ? st : read_into(b, b->after, true, err);
}

static vpu_status compare(tune_bench *b, bool *equal, vpu_error *err)
{
    vpu_status st = VPU_OK;

    *equal = true;
    for (uint32_t i = 0; i < b->g.n_buffers && !st && *equal; i++) {
        arena_mark m = arena_save(b->a);
        uint64_t n = b->g.buffers[i].bytes;
        void *now;

        if (!has_contents(b, i) || !b->touched[i])
            continue;
        now = b->b.ops->inspect ? backend_buffer(&b->b, i)
                                : arena_push(b->a, n, 1, 64);
        if (!b->b.ops->inspect)
            st = b->b.ops->read(b->b.self, i, now, err);
        *equal = !st && !memcmp(now, b->after[i], n);
        arena_restore(b->a, m);
    }
    return st;
}

/* After a launch that stopped, memory beside the buffers may be damaged, and a
 * device may take nothing more. */
static vpu_status open_again(tune_bench *b, vpu_error *err)
{
    vpu_status st;

    backend_close(&b->b);
    st = open_filled(b, err);
    return st ? st : write_from(b, b->before, false, err);
}

static bool is_final(vpu_status st)
{
    return st == VPU_ERR_STOPPED || st == VPU_ERR_NOMEM;
}

vpu_status tune_bench_try(tune_bench *b, const tune_choice *x, tune_trial *out,
                          vpu_error *err)
{
    graph_launch *l = &b->g.launches[b->launch];
    const graph_launch own = *l;
    bool equal = false;
    vpu_status st;

    *out = (tune_trial){.choice = *x, .outcome = TUNE_RAN};
    tune_choose(l, x);
    /* Nobody reads why a choice fails, so nobody looks for the line. */
    st = run_measured(b, &out->cost, NULL);
    *l = own;
    if (is_final(st))
        return err_set(err, st, "%s: %s", l->name,
                       st == VPU_ERR_STOPPED ? "cancelled"
                                             : "not enough memory");
    if (st) {
        out->outcome = st == VPU_ERR_LIMIT ? TUNE_OVER_LIMIT : TUNE_FAULTED;
        return open_again(b, err);
    }
    st = compare(b, &equal, err);
    if (!st && !equal)
        out->outcome = TUNE_OTHER_VALUES;
    return st;
}

vpu_status tune_bench_end(tune_bench *b, vpu_error *err)
{
    return write_from(b, b->after, true, err);
}

uint32_t tune_bound_shaves(const graph_launch *l)
{
    return l->tuned ? l->bound_shaves : l->max_shaves;
}

void tune_choose(graph_launch *l, const tune_choice *x)
{
    l->bound_shaves = tune_bound_shaves(l);
    l->tuned = true;
    memcpy(l->local, x->local, sizeof l->local);
    l->max_shaves = x->shaves ? x->shaves : l->bound_shaves;
}
