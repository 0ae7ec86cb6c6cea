/* Runs of a graph on changed machines. */
#include "runtime/whatif/whatif.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const whatif_config *cfg;
    const graph *g;
    arena *a;
    uint64_t runs, total; /* so far; 0 = not known */
} asking;

/* --- one run -------------------------------------------------------------- */

static vpu_status change(mach_desc *d, backend_config *run,
                         const whatif_knob *k, arena *a, vpu_error *err)
{
    vpu_status st = VPU_OK;

    for (uint32_t i = 0; i < k->n_settings && !st; i++)
        st = mach_desc_set(d, a, k->settings[i], err);
    if (k->shaves)
        run->how.n_shaves = k->shaves;
    if (k->reverse)
        run->how.order = EXEC_REVERSE;
    return st ? err_in(err, st, "what if %s", k->name) : VPU_OK;
}

static void add_launch(whatif_outcome *to, const backend_launch *l)
{
    if (!l->kernel)
        return;
    to->shave_cycles += l->exec.profile.cycles * l->n_shaves;
    for (uint32_t s = 0; s < l->n_shaves; s++)
        for (int c = 0; c < MACH_N_CAUSES; c++)
            to->causes[c] += l->exec.profile.by_cause[s][c];
}

static vpu_status run_open(asking *x, const backend *b, whatif_outcome *out,
                           vpu_error *err)
{
    uint32_t n = x->g->n_launches;
    backend_result *results = arena_array(x->a, backend_result, n + 1);
    uint64_t *launches = arena_array(x->a, uint64_t, n + 1);
    vpu_status st = x->cfg->fill(x->cfg->fill_user, b, err);

    if (!st)
        st = backend_run(b, 0, n, results, err);
    for (uint32_t i = 0; i < n && !st; i++) {
        launches[i] = results[i].cycles;
        out->cycles += results[i].cycles;
        add_launch(out, backend_launch_of(b, i));
    }
    out->launches = launches;
    return st;
}

/* On the machine with n knobs turned. */
static vpu_status run_with(asking *x, const whatif_knob *const *knobs, size_t n,
                           whatif_outcome *out, vpu_error *err)
{
    const log_step step = {
        .of = "what if", .units = "runs", .done = x->runs, .total = x->total};
    backend_config run = x->cfg->run;
    mach_desc desc = *x->cfg->run.desc;
    backend b = {0};
    vpu_status st = VPU_OK;

    log_progress(run.log, &step);
    *out = (whatif_outcome){0};
    run.desc = &desc;
    for (size_t i = 0; i < n && !st; i++)
        st = change(&desc, &run, knobs[i], x->a, err);
    if (!st)
        st = backend_open(x->cfg->ops, &run, x->g, &b, err);
    if (!st)
        st = run_open(x, &b, out, err);
    backend_close(&b);
    x->runs++;
    return st;
}

/* --- singles, and one after another --------------------------------------- */

static int by_cycles(const void *a, const void *b)
{
    const whatif_row *x = a, *y = b;

    if (x->outcome.cycles != y->outcome.cycles)
        return x->outcome.cycles < y->outcome.cycles ? -1 : 1;
    return (x->knob > y->knob) - (x->knob < y->knob);
}

static vpu_status ask_singles(asking *x, whatif_report *out, vpu_error *err)
{
    size_t n = x->cfg->n_knobs;
    whatif_row *rows = arena_array(x->a, whatif_row, n + 1);
    vpu_status st = VPU_OK;

    for (size_t i = 0; i < n && !st; i++) {
        const whatif_knob *k = rows[i].knob = &x->cfg->knobs[i];

        st = run_with(x, &k, 1, &rows[i].outcome, err);
    }
    if (!st)
        qsort(rows, n, sizeof *rows, by_cycles);
    out->rows = rows;
    out->n_rows = n;
    return st;
}

/* Two that say the same thing differently are not turned both. */
static bool are_apart(const whatif_knob *x, const whatif_knob *y)
{
    return x != y && !(x->shaves && y->shaves) && !(x->reverse && y->reverse);
}

static bool is_worth_it(uint64_t cycles, uint64_t before)
{
    return cycles < before && before - cycles >= before / 100;
}

/* The knob that saves most on top of the n that are turned; NULL: none is worth
 * it. */
static vpu_status next_step(asking *x, const whatif_knob **turned, size_t n,
                            uint64_t before, whatif_row *best, vpu_error *err)
{
    vpu_status st = VPU_OK;

    *best = (whatif_row){.outcome.cycles = UINT64_MAX};
    for (size_t i = 0; i < x->cfg->n_knobs && !st; i++) {
        const whatif_knob *k = turned[n] = &x->cfg->knobs[i];
        whatif_outcome now;
        bool apart = true;

        for (size_t j = 0; j < n; j++)
            apart &= are_apart(turned[j], k);
        if (!apart)
            continue;
        st = run_with(x, turned, n + 1, &now, err);
        if (!st && now.cycles < best->outcome.cycles)
            *best = (whatif_row){k, now};
    }
    if (!is_worth_it(best->outcome.cycles, before))
        best->knob = NULL;
    return st;
}

static vpu_status ask_steps(asking *x, whatif_report *out, vpu_error *err)
{
    uint32_t most = x->cfg->max_steps;
    const whatif_knob **turned =
        arena_array(x->a, const whatif_knob *, most + 1);
    whatif_row *steps = arena_array(x->a, whatif_row, most + 1);
    uint64_t before = out->before.cycles;
    vpu_status st = VPU_OK;

    out->steps = steps;
    if (!most || !out->n_rows ||
        !is_worth_it(out->rows->outcome.cycles, before))
        return VPU_OK;
    steps[out->n_steps++] = out->rows[0];
    while (out->n_steps < most) {
        size_t n = out->n_steps;

        turned[n - 1] = steps[n - 1].knob;
        st = next_step(x, turned, n, steps[n - 1].outcome.cycles, &steps[n],
                       err);
        if (st || !steps[n].knob)
            return st;
        out->n_steps++;
    }
    return VPU_OK;
}

vpu_status whatif_ask(const whatif_config *cfg, const graph *g, arena *a,
                      whatif_report *out, vpu_error *err)
{
    asking x = {.cfg = cfg, .g = g, .a = a};
    vpu_status st;

    *out = (whatif_report){0};
    x.total = cfg->max_steps ? 0 : cfg->n_knobs + 1;
    st = run_with(&x, NULL, 0, &out->before, err);
    if (!st)
        st = ask_singles(&x, out, err);
    if (!st)
        st = ask_steps(&x, out, err);
    out->runs = x.runs;
    return st;
}

mach_cause whatif_main_cause(const whatif_outcome *x)
{
    int best = 0;

    for (int c = 1; c < MACH_N_CAUSES; c++)
        if (x->causes[c] > x->causes[best])
            best = c;
    return (mach_cause)best;
}
