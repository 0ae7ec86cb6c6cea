/* Block by block: for each combination of a block's choices the numbers are
 * fitted to its cases (Levenberg and Marquardt); then all numbers to all cases,
 * and each choice against the others. Residuals are ln(model / measured) by
 * what is believed of them. */
#include "runtime/calibrate/fit.h"

#include <math.h>
#include <string.h>

#include "runtime/calibrate/dense.h"
#include "runtime/calibrate/model.h"

/* What the model's times are believed at best, beside the measurement's error:
 * whole cycles, a float's milliseconds. */
#define BELIEVED 0.002
/* So much of chi-squared more, and a choice is worse: three deviations. */
#define CLEARLY 9.0
/* So much more, and what follows is not near another valley's bottom. */
#define MADE_UP 100.0
/* A number that no time tells stays near the description that the fit begins
 * with: the square of an error, where it has gone far. */
#define PRIOR 1.0
#define STEP 0.08      /* of a number, for its derivative */
#define TWO_SIDED 1.96 /* deviations of 95 %, of intervals */
#define CERTAIN 3.0    /* of a number that is called found: there are many */

enum { MAX_PARAMS = DENSE_MAX, MAX_PASSES = 4 };
#define FAR 10.0
#define MARGIN 20.0
enum { MAX_NEARBY = 12 };
enum { N_BEST = 8 }; /* combinations that are fitted finely */

/* How long numbers are moved: rounds, while each takes a part of the sum. */
typedef struct {
    int rounds;
    double gain;
} effort;

static const effort coarse = {4, 0.1}, fine = {12, 1e-4};

typedef struct {
    double x[MAX_PARAMS], sum;
} candidate;

typedef struct {
    const fit_config *cfg;
    arena *a;
    model *m;
    const design_param *params;
    size_t n_params, n_cases;
    double x[MAX_PARAMS];     /* the values so far */
    double start[MAX_PARAMS]; /* those of cfg->start */
    double *sigma;            /* of each case */
    double *seconds;
    size_t *order; /* in which cases are asked */
    /* Of each block, combinations of choices that explained it well. */
    candidate *kept[DESIGN_N_BLOCKS];
    size_t n_kept[DESIGN_N_BLOCKS];
    vpu_error *err;
    vpu_status st; /* once it is not VPU_OK nothing is tried any more */
    uint64_t asked;
} fit;

/* Which parameters move, and the cases that they are to explain. */
typedef struct {
    uint32_t list[MAX_PARAMS];
    size_t n;
    const bool *cases;
} task;

static mach_desc machine_of(const fit *f, const double *x)
{
    mach_desc d = *f->cfg->start;

    for (size_t i = 0; i < f->n_params; i++)
        design_param_set(&f->params[i], &d, x[i]);
    if (d.ddr_peak_bw < d.ddr_eff_bw)
        d.ddr_peak_bw = d.ddr_eff_bw;
    /* A bank's cycle is tRAS + tRP, a switch tRP + tRCD, and tRAS the longer.
     */
    if (d.ddr_row_switch > d.ddr_row_cycle)
        d.ddr_row_switch = d.ddr_row_cycle;
    return d;
}

static double residual(fit *f, size_t i)
{
    if (!f->st && f->cfg->cancel && atomic_load(f->cfg->cancel))
        f->st = err_set(f->err, VPU_ERR_STOPPED, "stopped");
    if (!f->st)
        f->st = model_seconds(f->m, i, &f->seconds[i], f->err);
    return f->st ? INFINITY
                 : log(f->seconds[i] / f->cfg->measured->times[i].seconds) /
                       f->sigma[i];
}

/* Residuals of the cases, 0 of others; the sum of their squares. Infinite: no
 * such machine, or the sum is limit at least; r holds nothing then. The case
 * that goes over the limit is asked first next time: it likely does again. */
static double residuals(fit *f, const double *x, const bool *cases,
                        double limit, double *r)
{
    mach_desc d = machine_of(f, x);
    double sum = 0;

    if (mach_desc_contradiction(&d))
        return INFINITY;
    model_set(f->m, &d);
    f->asked++;
    for (size_t k = 0; k < f->n_cases; k++) {
        size_t i = f->order[k];

        r[i] = !cases || cases[i] ? residual(f, i) : 0;
        sum += r[i] * r[i];
        if (sum >= limit || f->st) {
            memmove(&f->order[1], f->order, k * sizeof *f->order);
            f->order[0] = i;
            return INFINITY;
        }
    }
    sum = 0; /* its last bits do not depend on the order */
    for (size_t i = 0; i < f->n_cases; i++)
        sum += r[i] * r[i];
    return sum;
}

/* --- numbers -------------------------------------------------------------- */

static double scale_of(double x)
{
    return fabs(x) > 1 ? fabs(x) : 1;
}

/* In whole steps for a whole number; the other way at a bound. */
static double step_of(const design_param *p, double x, double part)
{
    double h = part * scale_of(x), size = fabs(h);

    if (!design_param_is_real(p))
        h = (size < 1 ? 1 : floor(size)) * (h < 0 ? -1 : 1);
    return x + h > p->high || x + h < p->low ? -h : h;
}

/* Whole numbers move by whole steps, so that a derivative is one of the model's
 * own rounding, not of ours. */
static double at_grid(const design_param *p, double x)
{
    return design_param_is_real(p) ? x : floor(x + 0.5);
}

/* How far the parameter is from its start: at most sqrt(PRIOR), however far, or
 * numbers whose start is small would be drawn back to it. */
static double strayed(const fit *f, uint32_t p, double x)
{
    return (x - f->start[p]) / (fabs(x) + scale_of(f->start[p])) * sqrt(PRIOR);
}

/* Its derivative. */
static double strays(const fit *f, uint32_t p, double x)
{
    double all = fabs(x) + scale_of(f->start[p]);

    return (all - (x - f->start[p])) / (all * all) * sqrt(PRIOR);
}

/* residuals, and the squares of how far the numbers have strayed. */
static double objective(fit *f, const double *x, const task *t, double limit,
                        double *r)
{
    double away = 0;

    for (size_t j = 0; j < t->n; j++)
        away += strayed(f, t->list[j], x[t->list[j]]) *
                strayed(f, t->list[j], x[t->list[j]]);
    return away + residuals(f, x, t->cases, limit - away, r);
}

static double greatest_change(const fit *f, const double *a, const double *b)
{
    double most = 0;

    for (size_t i = 0; i < f->n_cases; i++)
        most = fabs(a[i] - b[i]) > most ? fabs(a[i] - b[i]) : most;
    return most;
}

/* The derivative by parameter p over its scale, to the side that part's sign
 * says. The model rounds nanoseconds to cycles: where a small step changes
 * nothing, a larger one may. */
static void derive_by(fit *f, const double *x, uint32_t p, double part,
                      const bool *cases, const double *r, double *moved,
                      double *out)
{
    enum { TRIES = 3 };
    const design_param *param = &f->params[p];
    double y[MAX_PARAMS], h = 0;

    for (int i = 0; i < TRIES; i++, part *= 2) {
        memcpy(y, x, sizeof y);
        y[p] = at_grid(param, x[p]);
        y[p] += step_of(param, y[p], part);
        h = y[p] - x[p];
        if (h == 0 || isinf(residuals(f, y, cases, INFINITY, moved)))
            memcpy(moved, r, f->n_cases * sizeof *r);
        if (greatest_change(f, moved, r) > 0.05 || f->st)
            break;
    }
    for (size_t i = 0; i < f->n_cases; i++)
        out[i] = h == 0 ? 0 : (moved[i] - r[i]) / h * scale_of(x[p]);
}

/* One row of n_cases for each parameter of the task. */
static void derive(fit *f, const double *x, const task *t, const double *r,
                   double *out)
{
    double *moved = arena_array(f->a, double, f->n_cases);

    for (size_t j = 0; j < t->n && !f->st; j++)
        derive_by(f, x, t->list[j], STEP, t->cases, r, moved,
                  &out[j * f->n_cases]);
}

static double length_of(const double *list, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += list[i] * list[i];
    return sum;
}

/* Likewise, of both sides the one where the times change less: where a limit
 * begins to count just beside the solution, one side alone tells nothing. */
static void derive_cautiously(fit *f, const double *x, const task *t,
                              const double *r, double *out)
{
    double *moved = arena_array(f->a, double, f->n_cases);
    double *below = arena_array(f->a, double, f->n_cases);

    derive(f, x, t, r, out);
    for (size_t j = 0; j < t->n && !f->st; j++) {
        double *above = &out[j * f->n_cases];

        derive_by(f, x, t->list[j], -STEP, t->cases, r, moved, below);
        if (length_of(below, f->n_cases) < length_of(above, f->n_cases))
            memcpy(above, below, f->n_cases * sizeof *below);
    }
}

static void normal_equations(const fit *f, const task *t, const double *jacobi,
                             double *a)
{
    for (size_t j = 0; j < t->n; j++)
        for (size_t k = 0; k < t->n; k++) {
            const double *x = &jacobi[j * f->n_cases];
            const double *y = &jacobi[k * f->n_cases];
            double sum = 0;

            for (size_t i = 0; i < f->n_cases; i++)
                sum += x[i] * y[i];
            a[j * t->n + k] = sum;
        }
}

static double bounded(const design_param *p, double x)
{
    return x < p->low ? p->low : x > p->high ? p->high : x;
}

/* A step that damping (lambda) leaves of the best linear one. */
static bool try_step(fit *f, const task *t, const double *a, const double *g,
                     double lambda, double *x)
{
    double damped[MAX_PARAMS * MAX_PARAMS], d[MAX_PARAMS];

    memcpy(damped, a, t->n * t->n * sizeof *a);
    for (size_t j = 0; j < t->n; j++)
        damped[j * t->n + j] += lambda * a[j * t->n + j] + 1e-9;
    if (!dense_solve(t->n, damped, g, d))
        return false;
    for (size_t j = 0; j < t->n; j++) {
        uint32_t p = t->list[j];

        x[p] = bounded(&f->params[p],
                       at_grid(&f->params[p], x[p] - d[j] * scale_of(x[p])));
    }
    return true;
}

/* Moves x to where the sum of squares, which is returned, is least nearby. */
static double fit_numbers(fit *f, const task *t, double *x, effort most)
{
    arena_mark mark = arena_save(f->a);
    double *r = arena_array(f->a, double, f->n_cases);
    double *other = arena_array(f->a, double, f->n_cases);
    double *jacobi = arena_array(f->a, double, t->n * f->n_cases + 1);
    double a[MAX_PARAMS * MAX_PARAMS], g[MAX_PARAMS], lambda = 1e-3;
    double best = objective(f, x, t, INFINITY, r);

    for (int round = 0; round < most.rounds && !isinf(best) && t->n; round++) {
        double before = best;

        derive(f, x, t, r, jacobi);
        normal_equations(f, t, jacobi, a);
        for (size_t j = 0; j < t->n; j++) {
            uint32_t p = t->list[j];
            double pull = scale_of(x[p]) * strays(f, p, x[p]);

            a[j * t->n + j] += pull * pull;
            g[j] = pull * strayed(f, p, x[p]);
            for (size_t i = 0; i < f->n_cases; i++)
                g[j] += jacobi[j * f->n_cases + i] * r[i];
        }
        for (int tries = 0; tries < 6 && !f->st; tries++) {
            double y[MAX_PARAMS], sum;

            memcpy(y, x, sizeof y);
            sum = try_step(f, t, a, g, lambda, y)
                      ? objective(f, y, t, best, other)
                      : INFINITY;
            if (sum < best) {
                best = sum;
                memcpy(x, y, sizeof y);
                memcpy(r, other, f->n_cases * sizeof *r);
                lambda = lambda > 1e-9 ? lambda / 10 : lambda;
                break;
            }
            lambda *= 10;
        }
        if (f->st || before - best <= most.gain * before + 1e-9)
            break;
    }
    arena_restore(f->a, mark);
    return best;
}

/* Values of the parameter that are tried from x on: parts of it, with `wide` as
 * the exponent; and a whole number's neighbours, since what waits for what may
 * change from one of them to the next. */
static size_t nearby(const design_param *p, double x, double wide,
                     double out[MAX_NEARBY])
{
    enum { N_EACH = MAX_NEARBY / 2 };
    static const double factors[N_EACH] = {0.8, 0.9, 0.95, 1.05, 1.1, 1.25};
    static const double steps[N_EACH] = {-3, -2, -1, 1, 2, 3};
    size_t n = 0;

    for (size_t k = 0; k < N_EACH; k++)
        out[n++] = x * pow(factors[k], wide);
    for (size_t k = 0; k < N_EACH && !design_param_is_real(p); k++)
        out[n++] = x + steps[k];
    for (size_t k = 0; k < n; k++)
        out[k] = bounded(p, at_grid(p, out[k]));
    return n;
}

/* Where what is scarce changes, the sum has more than one valley: each number
 * is tried further away, with `wide` as the exponent of its factors. True: one
 * is better, and x is there. */
static bool shake(fit *f, const task *t, double wide, double *x, double *best)
{
    arena_mark mark = arena_save(f->a);
    double *r = arena_array(f->a, double, f->n_cases);
    bool any = false;

    for (size_t j = 0; j < t->n; j++) {
        uint32_t p = t->list[j];
        double values[MAX_NEARBY];
        size_t n = nearby(&f->params[p], x[p], wide, values);

        for (size_t k = 0; k < n && !f->st; k++) {
            double y[MAX_PARAMS], sum;

            if (values[k] == x[p])
                continue;
            memcpy(y, x, sizeof y);
            y[p] = values[k];
            sum = objective(f, y, t, *best, r);
            if (sum < *best) {
                *best = sum;
                memcpy(x, y, sizeof y);
                any = true;
            }
        }
    }
    arena_restore(f->a, mark);
    return any;
}

/* fit_numbers, from where no step further away is better. */
static double fit_well(fit *f, const task *t, double *x)
{
    enum { SHAKES = 4 };
    double best = fit_numbers(f, t, x, fine);

    for (int i = 0; i < SHAKES && !f->st && shake(f, t, 1, x, &best); i++)
        best = fit_numbers(f, t, x, fine);
    return best;
}

/* From anywhere: each number is tried at up to three times its size first. */
static double fit_coarsely(fit *f, const task *t, double *x)
{
    enum { SHAKES = 2 };
    arena_mark mark = arena_save(f->a);
    double best =
        objective(f, x, t, INFINITY, arena_array(f->a, double, f->n_cases));

    arena_restore(f->a, mark);
    for (int i = 0;
         i < SHAKES && !isinf(best) && !f->st && shake(f, t, 5, x, &best); i++)
        ;
    return isinf(best) ? best : fit_numbers(f, t, x, coarse);
}

/* --- choices -------------------------------------------------------------- */

static task numbers_of(const fit *f, design_block b, const bool *cases)
{
    task t = {.cases = cases};

    for (uint32_t i = 0; i < f->n_params; i++) {
        const design_param *p = &f->params[i];
        bool mine = p->block == b || p->also == b || b == DESIGN_N_BLOCKS;

        if (mine && !p->n_choices)
            t.list[t.n++] = i;
    }
    return t;
}

/* The best ones, in order. */
static void keep_best(candidate *list, size_t *n, const candidate *c)
{
    size_t at = *n;

    while (at && list[at - 1].sum > c->sum)
        at--;
    if (at == N_BEST)
        return;
    if (*n < N_BEST)
        ++*n;
    memmove(&list[at + 1], &list[at], (*n - 1 - at) * sizeof *list);
    list[at] = *c;
}

static bool *cases_of(const fit *f, design_block b)
{
    bool *cases = arena_array(f->a, bool, f->n_cases);

    for (size_t i = 0; i < f->n_cases; i++)
        cases[i] = f->cfg->measured->cases[i].block == b;
    return cases;
}

/* The next combination of the choices; false: that was the last. */
static bool next(const fit *f, const uint32_t *choices, size_t n,
                 uint32_t *digits)
{
    for (size_t i = 0; i < n; i++) {
        if (++digits[i] < f->params[choices[i]].n_choices)
            return true;
        digits[i] = 0;
    }
    return false;
}

/* The parameters of the block that are choices. */
static size_t choices_of(const fit *f, design_block b, uint32_t *out)
{
    size_t n = 0;

    for (uint32_t i = 0; i < f->n_params; i++)
        if (f->params[i].block == b && f->params[i].n_choices)
            out[n++] = i;
    return n;
}

static void fit_block(fit *f, design_block b)
{
    const task t = numbers_of(f, b, cases_of(f, b));
    uint32_t choices[MAX_PARAMS], digits[MAX_PARAMS] = {0};
    candidate best[N_BEST], c;
    size_t n = choices_of(f, b, choices), n_best = 0;

    do {
        memcpy(c.x, f->x, sizeof c.x);
        for (size_t i = 0; i < n; i++)
            c.x[choices[i]] = f->params[choices[i]].choices[digits[i]];
        c.sum = fit_coarsely(f, &t, c.x);
        if (!isinf(c.sum))
            keep_best(best, &n_best, &c);
    } while (!f->st && next(f, choices, n, digits));
    c.sum = INFINITY;
    f->n_kept[b] = 0;
    for (size_t i = 0; i < n_best && !f->st; i++) {
        if (best[i].sum > FAR * (best[0].sum + MARGIN))
            break; /* what is fitted coarsely is not that far off */
        best[i].sum = fit_well(f, &t, best[i].x);
        f->kept[b][f->n_kept[b]++] = best[i];
        if (best[i].sum < c.sum)
            c = best[i];
    }
    if (!isinf(c.sum))
        memcpy(f->x, c.x, sizeof f->x);
}

static void tell_progress(const fit *f, uint64_t done)
{
    const log_step step = {.of = "calibrate",
                           .units = "blocks",
                           .done = done,
                           .total = DESIGN_N_BLOCKS};

    log_progress(f->cfg->log, &step);
}

/* Sizes of L1 and of L2 stand in each other's way: rounds of both, until no
 * choice changes any more. Later blocks need what earlier ones found. */
static void fit_caches(fit *f)
{
    for (int pass = 0; pass < MAX_PASSES && !f->st; pass++) {
        bool same = true;
        double before[MAX_PARAMS];

        memcpy(before, f->x, sizeof before);
        fit_block(f, DESIGN_L1);
        fit_block(f, DESIGN_L2);
        for (size_t i = 0; i < f->n_params; i++)
            same &= !f->params[i].n_choices || f->x[i] == before[i];
        if (same)
            break;
    }
}

static void fit_blocks(fit *f)
{
    for (int b = 0; b < DESIGN_N_BLOCKS && !f->st; b++) {
        tell_progress(f, (uint64_t)b);
        if (b == DESIGN_L1)
            fit_caches(f);
        else if (b != DESIGN_L2)
            fit_block(f, (design_block)b);
    }
}

/* --- the verdicts --------------------------------------------------------- */

/* Another value than the one of f->x, by more than is asked for; a whole number
 * is known to one half. */
static bool is_other(const fit *f, uint32_t i, double y)
{
    double apart = fabs(y - f->x[i]);

    return f->params[i].n_choices
               ? apart > 0
               : apart > f->cfg->precision * scale_of(f->x[i]) &&
                     (design_param_is_real(&f->params[i]) || apart > 0.5);
}

/* The machine y explains the times as well as f->x: it is as likely, too. */
static void widen(const fit *f, const double *y, fit_value *values)
{
    for (uint32_t i = 0; i < f->n_params; i++) {
        fit_value *v = &values[i];
        str with = {0};

        v->low = y[i] < v->low ? y[i] : v->low;
        v->high = y[i] > v->high ? y[i] : v->high;
        if (!is_other(f, i, y[i]))
            continue;
        v->verdict = FIT_VAGUE;
        for (uint32_t k = 0; k < f->n_params; k++)
            if (k != i && is_other(f, k, y[k]))
                str_printf(&with, "%s%s", with.n ? ", " : "",
                           f->params[k].name);
        v->with = arena_strdup(f->a, str_text(&with));
        str_free(&with);
    }
}

/* The machine does things that the model does not: what else might explain the
 * times as badly is not worth the time that it takes to look. */
static bool is_misfit(const fit *f, double sum)
{
    return sum > FAR * ((double)f->n_cases + MARGIN);
}

/* Another machine, y, whose numbers of the block are fitted, then all: a better
 * explanation is taken (true), one that is as good is noted. */
static bool compare(fit *f, design_block b, double *y, double sum,
                    fit_value *values)
{
    const task t = numbers_of(f, b, NULL);
    const task all = numbers_of(f, DESIGN_N_BLOCKS, NULL);
    double *scratch = arena_array(f->a, double, f->n_cases), other;

    if (isinf(
            residuals(f, y, NULL, 1000 * (sum + (double)f->n_cases), scratch)))
        return false; /* numbers of its block do not mend that much */
    fit_well(f, &t, y);
    if (isinf(residuals(f, y, NULL, sum + 3 * CLEARLY, scratch)))
        return false; /* nor do the others, which have not moved yet */
    if (!is_misfit(f, sum))
        fit_well(f, &all, y);
    other = residuals(f, y, NULL, sum + CLEARLY, scratch);
    if (other < sum - CLEARLY) {
        memcpy(f->x, y, sizeof f->x);
        return true;
    }
    if (other < sum + CLEARLY)
        widen(f, y, values);
    return false;
}

static size_t other_choices(const fit *f, const double *y)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_params; i++)
        n += f->params[i].n_choices && f->x[i] != y[i];
    return n;
}

/* Combinations of several other choices of a block that explain the times best
 * with the numbers as they are. */
static size_t best_combinations(fit *f, design_block b, candidate *out)
{
    double *scratch = arena_array(f->a, double, f->n_cases);
    uint32_t choices[MAX_PARAMS], digits[MAX_PARAMS] = {0};
    size_t n_choices = choices_of(f, b, choices), n = 0;
    candidate c;

    do {
        memcpy(c.x, f->x, sizeof c.x);
        for (size_t i = 0; i < n_choices; i++)
            c.x[choices[i]] = f->params[choices[i]].choices[digits[i]];
        if (other_choices(f, c.x) < 2)
            continue;
        c.sum = residuals(f, c.x, NULL, n == N_BEST ? out[n - 1].sum : INFINITY,
                          scratch);
        if (!isinf(c.sum))
            keep_best(out, &n, &c);
    } while (!f->st && next(f, choices, n_choices, digits));
    return n;
}

/* Each other choice of each parameter; several of a block at once, since of
 * two that hide each other one alone may explain nothing; and what explained a
 * block well when it was fitted, with the numbers of then, since numbers get
 * stuck on their way from others. */
static bool compare_choices(fit *f, double sum, fit_value *values)
{
    double y[MAX_PARAMS];

    for (uint32_t i = 0; i < f->n_params && !f->st; i++) {
        const design_param *p = &f->params[i];

        for (uint32_t k = 0; k < p->n_choices && !f->st; k++) {
            memcpy(y, f->x, sizeof y);
            y[i] = p->choices[k];
            if (y[i] != f->x[i] && compare(f, p->block, y, sum, values))
                return true;
        }
    }
    for (int b = 0; b < DESIGN_N_BLOCKS && !f->st && !is_misfit(f, sum); b++) {
        candidate best[N_BEST];
        size_t n = best_combinations(f, (design_block)b, best);

        for (size_t k = 0; k < n && !f->st; k++)
            if (compare(f, (design_block)b, best[k].x, sum, values))
                return true;
    }
    for (int b = 0; b < DESIGN_N_BLOCKS; b++)
        for (size_t k = 0; k < f->n_kept[b] && !f->st; k++) {
            memcpy(y, f->x, sizeof y);
            for (size_t i = 0; i < f->n_params; i++)
                if (f->params[i].block == (design_block)b ||
                    f->params[i].also == (design_block)b)
                    y[i] = f->kept[b][k].x[i];
            if (other_choices(f, y) &&
                compare(f, (design_block)b, y, sum, values))
                return true;
        }
    return false;
}

/* y, but for number p, which stays: the block's other numbers follow. False:
 * they cannot make up for it. */
static bool follow(fit *f, uint32_t p, double *y, double sum)
{
    task t = numbers_of(f, f->params[p].block, NULL);
    arena_mark mark = arena_save(f->a);
    double *scratch = arena_array(f->a, double, f->n_cases), reached;
    size_t n = 0;

    for (size_t j = 0; j < t.n; j++)
        if (t.list[j] != p)
            t.list[n++] = t.list[j];
    t.n = n;
    fit_numbers(f, &t, y, coarse);
    reached = residuals(f, y, NULL, sum + MADE_UP, scratch);
    arena_restore(f->a, mark);
    return !isinf(reached);
}

/* Each number that is called found at values beyond its interval, where others
 * that follow may explain the times as well: a valley of its own, which the
 * linear problem at the solution does not show. */
static bool compare_numbers(fit *f, double sum, fit_value *values)
{
    static const double beyond[] = {-3, -1.5, 1.5, 3}; /* precisions */
    enum { N_BEYOND = sizeof beyond / sizeof *beyond };

    for (uint32_t i = 0; i < f->n_params; i++) {
        const design_param *p = &f->params[i];

        for (size_t k = 0; k < N_BEYOND && !f->st; k++) {
            double step = f->cfg->precision * scale_of(f->x[i]), y[MAX_PARAMS];

            if (p->n_choices || values[i].verdict != FIT_FOUND)
                break;
            step = design_param_is_real(p) || step > 1 ? step : 1;
            memcpy(y, f->x, sizeof y);
            y[i] = bounded(p, at_grid(p, f->x[i] + beyond[k] * step));
            if (y[i] != f->x[i] && follow(f, i, y, sum) &&
                compare(f, p->block, y, sum, values))
                return true;
        }
    }
    return false;
}

/* The numbers whose interval is too wide, and what each is mixed with: of the
 * directions that the times do not tell, those that it has a part in. */
static void name_mixed(fit *f, const task *t, const double *eigen,
                       const double *vectors, fit_value *values)
{
    for (size_t j = 0; j < t->n; j++) {
        fit_value *v = &values[t->list[j]];
        str names = {0};
        bool with[MAX_PARAMS] = {0};

        if (v->verdict != FIT_VAGUE)
            continue;
        for (size_t e = 0; e < t->n; e++) {
            double part = fabs(vectors[j * t->n + e]);

            if (part < 0.2 || CERTAIN / sqrt(eigen[e] > 0 ? eigen[e] : 1e-12) <
                                  f->cfg->precision)
                continue;
            for (size_t k = 0; k < t->n; k++)
                with[k] |= k != j && fabs(vectors[k * t->n + e]) >= 0.2 &&
                           values[t->list[k]].verdict == FIT_VAGUE;
        }
        for (size_t k = 0; k < t->n; k++)
            if (with[k])
                str_printf(&names, "%s%s", names.n ? ", " : "",
                           f->params[t->list[k]].name);
        v->with = arena_strdup(f->a, str_text(&names));
        str_free(&names);
    }
}

/* Intervals of numbers: the covariance of the linear problem at its solution.
 * A direction without information gets an interval without end. */
static void judge_numbers(fit *f, fit_value *values)
{
    const task t = numbers_of(f, DESIGN_N_BLOCKS, NULL);
    double *r = arena_array(f->a, double, f->n_cases);
    double *jacobi = arena_array(f->a, double, t.n * f->n_cases);
    double a[MAX_PARAMS * MAX_PARAMS], eigen[MAX_PARAMS];
    double vectors[MAX_PARAMS * MAX_PARAMS];

    if (isinf(residuals(f, f->x, NULL, INFINITY, r)))
        return;
    derive_cautiously(f, f->x, &t, r, jacobi);
    normal_equations(f, &t, jacobi, a);
    dense_eigen(t.n, a, eigen, vectors);
    for (size_t j = 0; j < t.n; j++) {
        const design_param *p = &f->params[t.list[j]];
        fit_value *v = &values[t.list[j]];
        double variance = 0, half, certain;

        for (size_t e = 0; e < t.n; e++) {
            double part = vectors[j * t.n + e];

            variance += part * part / (eigen[e] > 1e-9 ? eigen[e] : 1e-9);
        }
        half = TWO_SIDED * sqrt(variance) * scale_of(v->value);
        certain = CERTAIN / TWO_SIDED * half;
        /* A whole number is known to one half. */
        if (certain > f->cfg->precision * scale_of(v->value) &&
            (design_param_is_real(p) || certain > 0.5))
            v->verdict = FIT_VAGUE;
        v->low = bounded(p, v->value - half);
        v->high = bounded(p, v->value + half);
    }
    name_mixed(f, &t, eigen, vectors, values);
}

static void judge_cases(fit *f, fit_result *out)
{
    double *r = arena_array(f->a, double, f->n_cases), squares = 0;

    out->cases = arena_array(f->a, fit_case, f->n_cases);
    out->n_cases = f->n_cases;
    if (isinf(residuals(f, f->x, NULL, INFINITY, r)))
        return;
    for (size_t i = 0; i < f->n_cases; i++) {
        fit_case *c = &out->cases[i];

        c->seconds = f->seconds[i];
        c->residual = r[i] * f->sigma[i];
        c->explained = fabs(c->residual) <=
                       FIT_TOLERANCE + 4 * f->cfg->measured->times[i].error;
        out->n_unexplained += !c->explained;
        squares += c->residual * c->residual;
    }
    out->rms = sqrt(squares / (double)f->n_cases);
}

/* Parameters of a block with cases that are not explained are in doubt. */
static void doubt(const fit *f, fit_result *out)
{
    for (size_t i = 0; i < f->n_cases; i++) {
        design_block b = f->cfg->measured->cases[i].block;

        for (size_t k = 0; k < out->n_values && !out->cases[i].explained; k++)
            if (f->params[k].block == b)
                out->values[k].verdict = FIT_DOUBT;
    }
}

static void set_values(const fit *f, fit_value *values)
{
    for (size_t i = 0; i < f->n_params; i++)
        values[i] = (fit_value){.param = &f->params[i],
                                .value = f->x[i],
                                .low = f->x[i],
                                .high = f->x[i],
                                .with = ""};
}

static void judge(fit *f, fit_result *out)
{
    const task all = numbers_of(f, DESIGN_N_BLOCKS, NULL);
    double *r = arena_array(f->a, double, f->n_cases), sum;
    mach_desc best;
    enum { MAX_CHANGES = 8 };
    bool changes = true;

    for (int i = 0; i < MAX_CHANGES && changes; i++) {
        fit_well(f, &all, f->x);
        for (size_t k = 0; k < f->n_params; k++)
            f->x[k] = at_grid(&f->params[k], f->x[k]);
        set_values(f, out->values);
        judge_numbers(f, out->values);
        sum = residuals(f, f->x, NULL, INFINITY, r);
        changes = compare_choices(f, sum, out->values) ||
                  (!is_misfit(f, sum) && compare_numbers(f, sum, out->values));
    }
    judge_cases(f, out);
    doubt(f, out);
    best = machine_of(f, f->x);
    out->machine = *f->cfg->start;
    for (size_t i = 0; i < f->n_params; i++)
        if (out->values[i].verdict != FIT_DOUBT)
            design_param_set(&f->params[i], &out->machine,
                             design_param_get(&f->params[i], &best));
}

const char *fit_verdict_name(fit_verdict v)
{
    static const char *const names[] = {"calibrated", "not determined",
                                        "in doubt"};

    return names[v];
}

vpu_status fit_run(const fit_config *cfg, arena *a, fit_result *out,
                   vpu_error *err)
{
    fit f = {.cfg = cfg,
             .a = a,
             .params = design_params(&f.n_params),
             .n_cases = cfg->measured->n_cases,
             .err = err};

    *out = (fit_result){.n_values = f.n_params};
    out->values = arena_array(a, fit_value, f.n_params);
    f.sigma = arena_array(a, double, f.n_cases);
    f.seconds = arena_array(a, double, f.n_cases);
    f.order = arena_array(a, size_t, f.n_cases);
    for (size_t i = 0; i < f.n_cases; i++)
        f.order[i] = i;
    for (int b = 0; b < DESIGN_N_BLOCKS; b++)
        f.kept[b] = arena_array(a, candidate, N_BEST);
    for (size_t i = 0; i < f.n_cases; i++)
        f.sigma[i] = hypot(cfg->measured->times[i].error, BELIEVED);
    for (size_t i = 0; i < f.n_params; i++)
        f.x[i] = f.start[i] = design_param_get(&f.params[i], cfg->start);
    f.st = model_open(cfg->measured->graph, cfg->start, cfg->log, &f.m, err);
    if (!f.st)
        fit_blocks(&f);
    if (!f.st)
        judge(&f, out);
    if (f.m)
        model_count(f.m, &out->runs, &out->replays);
    model_close(f.m);
    return f.st;
}
