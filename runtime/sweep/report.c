/* Pareto fronts, means of levels, rank correlations. */
#include "runtime/sweep/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { PARTS = 8 }; /* of a range */

/* --- reading -------------------------------------------------------------- */

typedef struct {
    sweep_table *t;
    arena *a;
} reading;

/* "1x16x32x32:f16": its elements. */
static bool elements_of(const char *text, double *out)
{
    double product = 1;
    const char *at = text;

    for (;;) {
        size_t n = strspn(at, "0123456789");

        if (!n || n > 9)
            return false;
        product *= atof(at);
        at += n;
        if (*at != 'x')
            break;
        at++;
    }
    *out = product;
    return strchr(text, 'x') && (!*at || *at == ':');
}

static uint32_t level_of(const sweep_dimension *d, const sweep_cell *c)
{
    uint32_t i = 0;
    double part;

    if (!d->n) {
        part = floor((c->number - d->low) / (d->high - d->low) * PARTS);
        return part < 0 ? 0 : part >= PARTS ? PARTS - 1 : (uint32_t)part;
    }
    while (i + 1 < d->n && strcmp(d->choices[i].text, c->text))
        i++;
    return i;
}

static void read_cell(const reading *r, const sweep_dimension *d,
                      const char *text, sweep_cell *out)
{
    out->ordered =
        str_to_f64(text, &out->number) || elements_of(text, &out->number);
    out->text = text;
    out->level = level_of(d, out);
    out->text = d->n ? d->choices[out->level].text : arena_strdup(r->a, text);
}

static vpu_status read_row(void *user, const sweep_row *row, vpu_error *err)
{
    const reading *r = user;
    sweep_table *t = r->t;
    sweep_result *x = arena_append(r->a, t->rows, t->n, t->cap);

    (void)err;
    *x = (sweep_result){.number = row->point->number};
    x->cells = arena_array(r->a, sweep_cell, t->manifest->n_dims);
    for (size_t d = 0; d < t->manifest->n_dims; d++)
        read_cell(r, &t->manifest->dims[d], row->point->texts[d], &x->cells[d]);
    for (size_t k = 0; k < t->n_objectives; k++) {
        const json_t *v = row->figures[t->figures[k]];

        x->values[k] = v ? json_number_value(v) : (double)NAN;
    }
    return VPU_OK;
}

vpu_status sweep_table_read(const sweep_store *s, const size_t *figures,
                            size_t n_figures, arena *a, sweep_table *out,
                            vpu_error *err)
{
    reading r = {out, a};

    *out = (sweep_table){.manifest = &s->manifest, .n_objectives = n_figures};
    memcpy(out->figures, figures, n_figures * sizeof *figures);
    return sweep_each_row(s, read_row, &r, a, &out->gathered, err);
}

/* --- the front ------------------------------------------------------------ */

static bool has_values(const sweep_table *t, const sweep_result *x)
{
    for (size_t k = 0; k < t->n_objectives; k++)
        if (isnan(x->values[k]))
            return false;
    return true;
}

/* Of two rows: by each objective in turn, then by number. */
static int by_values(const void *a, const void *b)
{
    const sweep_result *x = *(const sweep_result *const *)a;
    const sweep_result *y = *(const sweep_result *const *)b;

    for (size_t k = 0; k < SWEEP_MAX_OBJECTIVES; k++)
        if (x->values[k] != y->values[k])
            return x->values[k] < y->values[k] ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* At least as good in all of them: of sorted rows an earlier one that is so
 * beats the later one, or is equal to it. */
static bool covers(const sweep_table *t, const sweep_result *x,
                   const sweep_result *y)
{
    for (size_t k = 0; k < t->n_objectives; k++)
        if (x->values[k] > y->values[k])
            return false;
    return true;
}

void sweep_pareto(const sweep_table *t, arena *a, const sweep_result ***out,
                  size_t *n)
{
    const sweep_result **sorted =
        arena_array(a, const sweep_result *, t->n + 1);
    size_t n_sorted = 0;

    for (size_t i = 0; i < t->n; i++)
        if (has_values(t, &t->rows[i]))
            sorted[n_sorted++] = &t->rows[i];
    qsort(sorted, n_sorted, sizeof *sorted, by_values);
    *n = 0;
    for (size_t i = 0; i < n_sorted; i++) {
        size_t k = 0;

        while (k < *n && !covers(t, sorted[k], sorted[i]))
            k++;
        if (k == *n)
            sorted[(*n)++] = sorted[i]; /* the front grows in place */
    }
    *out = sorted;
}

/* --- effects -------------------------------------------------------------- */

uint32_t sweep_levels(const sweep_dimension *d)
{
    return d->n ? (uint32_t)d->n : PARTS;
}

const char *sweep_level_text(const sweep_dimension *d, uint32_t level, arena *a)
{
    double width = (d->high - d->low) / PARTS;

    return d->n ? d->choices[level].text
                : arena_printf(a, "%.4g..%.4g", d->low + level * width,
                               d->low + (level + 1) * width);
}

static void find_means(const sweep_table *t, size_t objective, arena *a,
                       sweep_effect *e)
{
    double *sums = arena_array(a, double, e->n_levels), sum = 0;
    size_t *counts = arena_array(a, size_t, e->n_levels), count = 0;
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < t->n; i++) {
        double v = t->rows[i].values[objective];
        uint32_t level = t->rows[i].cells[e->dim].level;

        if (isnan(v))
            continue;
        sums[level] += v;
        counts[level]++;
        sum += v;
        count++;
    }
    for (uint32_t l = 0; l < e->n_levels; l++) {
        sums[l] = counts[l] ? sums[l] / (double)counts[l] : (double)NAN;
        if (counts[l]) {
            low = fmin(low, sums[l]);
            high = fmax(high, sums[l]);
        }
    }
    e->means = sums;
    e->spread = count && sum != 0 ? (high - low) / (sum / (double)count) : 0;
}

typedef struct {
    double value, rank;
    size_t row;
} ranked;

static int by_value(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    return x->value < y->value ? -1 : x->value > y->value;
}

static int by_row(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    return x->row < y->row ? -1 : x->row > y->row;
}

/* Equal values share the mean of their ranks. */
static void rank(ranked *r, size_t n)
{
    qsort(r, n, sizeof *r, by_value);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && r[end].value == r[i].value; end++)
            ;
        for (size_t k = i; k < end; k++)
            r[k].rank = (double)(i + end - 1) / 2;
    }
    qsort(r, n, sizeof *r, by_row);
}

static double correlation(const ranked *x, const ranked *y, size_t n)
{
    double middle = (double)(n - 1) / 2, xy = 0, xx = 0, yy = 0;

    for (size_t i = 0; i < n; i++) {
        double dx = x[i].rank - middle, dy = y[i].rank - middle;

        xy += dx * dy;
        xx += dx * dx;
        yy += dy * dy;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static void find_spearman(const sweep_table *t, size_t objective, arena *a,
                          sweep_effect *e)
{
    arena_mark mark = arena_save(a);
    ranked *x = arena_array(a, ranked, t->n + 1);
    ranked *y = arena_array(a, ranked, t->n + 1);
    size_t n = 0;

    e->ordered = true;
    for (size_t i = 0; i < t->n; i++) {
        const sweep_result *r = &t->rows[i];

        e->ordered &= r->cells[e->dim].ordered;
        if (isnan(r->values[objective]))
            continue;
        x[n] = (ranked){.value = r->cells[e->dim].number, .row = i};
        y[n++] = (ranked){.value = r->values[objective], .row = i};
    }
    if (e->ordered && n) {
        rank(x, n);
        rank(y, n);
        e->spearman = correlation(x, y, n);
    }
    arena_restore(a, mark);
}

static int by_spread(const void *a, const void *b)
{
    const sweep_effect *x = a, *y = b;

    if (x->spread != y->spread)
        return x->spread > y->spread ? -1 : 1;
    return x->dim < y->dim ? -1 : x->dim > y->dim;
}

void sweep_effects(const sweep_table *t, size_t objective, arena *a,
                   sweep_effect **out, size_t *n)
{
    sweep_effect *list = arena_array(a, sweep_effect, t->manifest->n_dims + 1);

    *n = 0;
    for (size_t d = 0; d < t->manifest->n_dims; d++) {
        sweep_effect e = {.dim = d,
                          .n_levels = sweep_levels(&t->manifest->dims[d])};

        if (e.n_levels < 2)
            continue;
        find_means(t, objective, a, &e);
        find_spearman(t, objective, a, &e);
        list[(*n)++] = e;
    }
    qsort(list, *n, sizeof *list, by_spread);
    *out = list;
}
