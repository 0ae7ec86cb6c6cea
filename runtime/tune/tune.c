/* Launches of a graph, one by one. */
#include "base/oom.h"
#include "runtime/tune/tune.h"

#include <string.h>

#include "runtime/tune/candidates.h"
#include "runtime/tune/key.h"
#include "runtime/tune/measure.h"
#include "runtime/tune/search.h"

const char *tune_mode_name(tune_mode m)
{
    static const char *const names[] = {"", "rapid", "normal", "exhaustive"};

    return names[m];
}

const char *tune_outcome_name(tune_outcome o)
{
    static const char *const names[] = {"ran", "other values", "fault",
                                        "limit"};

    return names[o];
}

/* --- one launch ----------------------------------------------------------- */

typedef struct {
    tune_bench bench;
    const tune_config *cfg;
    graph *g;
    arena *a;
    tune_row *row; /* of the launch that is tuned */
    const tune_choice *choices;
    tune_trial *trials;
    size_t n_trials;
} tuning;

static vpu_status try_choice(void *user, size_t i, uint64_t *cost,
                             vpu_error *err)
{
    tuning *t = user;
    tune_trial *x = &t->trials[t->n_trials];
    const log_step step = {
        .of = t->g->launches[t->row->launch].name,
        .units = "sizes",
        .done = t->n_trials,
        .total = t->cfg->mode == TUNE_EXHAUSTIVE ? t->row->n_candidates : 0};
    vpu_status st;

    log_progress(t->cfg->run.log, &step);
    st = tune_bench_try(&t->bench, &t->choices[i], x, err);
    if (st)
        return st;
    t->n_trials++;
    *cost = x->outcome == TUNE_RAN ? x->cost : UINT64_MAX;
    return VPU_OK;
}

static uint32_t shaves_of(const tuning *t, const graph_launch *l)
{
    uint32_t n = t->bench.b.ops->caps(t->bench.b.self)->n_shaves;

    return l->max_shaves && l->max_shaves < n ? l->max_shaves : n;
}

static uint64_t local_budget(const tuning *t, vpu_error *err, vpu_status *st)
{
    mach_desc usual;

    *st = VPU_OK;
    if (t->cfg->run.desc)
        return t->cfg->run.desc->ocl_local_budget;
    *st = mach_desc_load(NULL, t->a, &usual, err);
    return *st ? 0 : usual.ocl_local_budget;
}

static uint32_t factor_of(const sim_kernel *k)
{
    return !k ? 0
           : k->variants[SIM_VECTORIZED].present
               ? k->variants[SIM_VECTORIZED].factor
               : 1;
}

static vpu_status search(tuning *t, const tune_space *space, vpu_error *err)
{
    tune_row *row = t->row;
    tune_search s = {.mode = t->cfg->mode,
                     .factor = row->factor,
                     .shaves = shaves_of(t, space->launch),
                     .cost = try_choice,
                     .user = t,
                     .own_cost = row->cost_before};
    size_t best;
    vpu_status st;

    t->choices = tune_candidates(space, t->a, &row->n_candidates);
    t->trials = arena_array(t->a, tune_trial, row->n_candidates);
    t->trials[0] = (tune_trial){row->before, TUNE_RAN, row->cost_before};
    t->n_trials = 1;
    s.choices = t->choices;
    s.n_choices = row->n_candidates;
    memcpy(s.global, space->launch->global, sizeof s.global);
    st = tune_search_run(&s, &best, err);
    if (st)
        return st;
    row->best = t->choices[best];
    row->trials = t->trials;
    row->n_trials = t->n_trials;
    row->cost_best = row->cost_before;
    for (size_t i = 0; i < t->n_trials; i++)
        if (!memcmp(&t->trials[i].choice, &row->best, sizeof row->best))
            row->cost_best = t->trials[i].cost;
    return VPU_OK;
}

static vpu_status tune_launch(tuning *t, vpu_error *err)
{
    tune_row *row = t->row;
    graph_launch *l = &t->g->launches[row->launch];
    tune_space space = {.launch = l,
                        .kernel = tune_bench_kernel(&t->bench, row->launch)};
    vpu_status st;

    space.local_bytes = local_budget(t, err, &st);
    if (!st && t->cfg->shaves_too)
        space.max_shaves = shaves_of(t, l);
    row->factor = factor_of(space.kernel);
    if (!st)
        st = tune_bench_begin(&t->bench, row->launch, &row->cost_before, err);
    if (!st)
        st = search(t, &space, err);
    if (!st)
        st = tune_bench_end(&t->bench, err);
    return st;
}

/* --- the graph ------------------------------------------------------------ */

static bool is_tuned(const graph_launch *l)
{
    /* A text of our own is a conversion; a window is one of work-groups of this
     * size. */
    return !graph_is_internal(l) && !l->window.n[0];
}

static tune_choice own_choice(const graph_launch *l)
{
    tune_choice x = {.shaves = 0};

    memcpy(x.local, l->local, sizeof x.local);
    return x;
}

/* From the file, or by trials; the launch has its size then. */
static vpu_status do_launch(tuning *t, vpu_error *err)
{
    const tune_config *cfg = t->cfg;
    tune_row *row = t->row;
    graph_launch *l = &t->g->launches[row->launch];
    const tune_entry *found;
    vpu_status st;

    /* An earlier tuning's number of SHAVEs does not narrow this one. */
    l->max_shaves = tune_bound_shaves(l);
    row->before = own_choice(l);
    st = tune_key_of(cfg->ops, &cfg->run, t->g, l, t->a, &row->key, err);
    if (st)
        return st;
    found = cfg->file ? tune_file_find(cfg->file, &row->key) : NULL;
    if (found) {
        row->known = true;
        row->best = found->choice;
        row->cost_best = found->cost;
        st = tune_bench_pass(&t->bench, row->launch, err);
    } else {
        st = tune_launch(t, err);
    }
    if (!st)
        tune_choose(l, &row->best);
    return st;
}

/* A binding may have a size of which only whole groups run; where no other one
 * gives the same values it stays, and is nobody's to take from a file. */
static bool divides(const tune_row *row)
{
    for (int d = 0; d < 3; d++)
        if (row->key.global[d] % row->best.local[d])
            return false;
    return true;
}

static void keep(const tuning *t, bool cycles)
{
    const tune_row *row = t->row;
    const tune_entry e = {.key = row->key,
                          .choice = row->best,
                          .cost = row->cost_best,
                          .cycles = cycles,
                          .entry = t->g->launches[row->launch].entry};

    if (t->cfg->file && !row->known && divides(row))
        tune_file_put(t->cfg->file, t->cfg->file_arena, &e);
}

static vpu_status do_launches(tuning *t, tune_report *out, vpu_error *err)
{
    graph *g = t->g;
    tune_row *rows = arena_array(t->a, tune_row, g->n_launches + 1);
    vpu_status st = VPU_OK;

    out->rows = rows;
    out->cycles = t->bench.b.ops->caps(t->bench.b.self)->cycles;
    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        if (t->cfg->before)
            st = t->cfg->before(t->cfg->fill_user, &t->bench.b, i, err);
        if (st)
            break;
        if (!is_tuned(&g->launches[i])) {
            st = tune_bench_pass(&t->bench, i, err);
            continue;
        }
        t->row = &rows[out->n_rows++];
        *t->row = (tune_row){.launch = i};
        st = do_launch(t, err);
        if (!st)
            keep(t, out->cycles);
    }
    out->runs = t->bench.runs;
    return st;
}

static vpu_status check_wishes(const tune_config *cfg, vpu_error *err)
{
    if (cfg->shaves_too && cfg->mode != TUNE_EXHAUSTIVE)
        return err_set(err, VPU_ERR_INVALID,
                       "numbers of SHAVEs are tried in mode exhaustive alone");
    if (cfg->shaves_too && !(backend_extras(cfg->ops) & BACKEND_MACHINE))
        return err_set(err, VPU_ERR_INVALID,
                       "backend %s has no number of SHAVEs to choose",
                       cfg->ops->name);
    return VPU_OK;
}

typedef struct {
    tuning *t;
    tune_report *out;
} trying;

/* Where memory is short the bench is still there, to be closed. */
static vpu_status try_launches(void *user, vpu_error *err)
{
    const trying *x = user;
    vpu_status st = tune_bench_open(x->t->cfg, x->t->g, &x->t->bench, err);

    return st ? st : do_launches(x->t, x->out, err);
}

vpu_status tune_graph(const tune_config *cfg, graph *g, arena *a,
                      tune_report *out, vpu_error *err)
{
    tuning t = {.cfg = cfg, .g = g, .a = a};
    graph_launch *own =
        arena_memdup(a, g->launches, g->n_launches * sizeof *own);
    vpu_status st = check_wishes(cfg, err);

    *out = (tune_report){.cycles = false};
    if (st)
        return st;
    st = oom_guard(try_launches, &(trying){&t, out}, err);
    tune_bench_close(&t.bench);
    if (st)
        memcpy(g->launches, own, g->n_launches * sizeof *own);
    return st;
}

vpu_status tune_apply(const tune_file *file, const backend_ops *ops,
                      const backend_config *cfg, graph *g, arena *a,
                      uint32_t *n, vpu_error *err)
{
    const tune_entry **found =
        arena_array(a, const tune_entry *, g->n_launches + 1);
    vpu_status st = VPU_OK;
    tune_key key;

    *n = 0;
    for (uint32_t i = 0; i < g->n_launches && !st; i++) {
        if (!is_tuned(&g->launches[i]))
            continue;
        st = tune_key_of(ops, cfg, g, &g->launches[i], a, &key, err);
        if (!st)
            found[i] = tune_file_find(file, &key);
    }
    for (uint32_t i = 0; i < g->n_launches && !st; i++)
        if (found[i]) {
            tune_choose(&g->launches[i], &found[i]->choice);
            ++*n;
        }
    return st;
}
