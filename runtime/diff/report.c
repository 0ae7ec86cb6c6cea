/* The text report, and what all forms share. */
#include "runtime/diff/report.h"

#include <inttypes.h>
#include <math.h>

#include "runtime/diff/report_priv.h"

char *diff_tolerance_text(const diff_tolerance *t, arena *a)
{
    static const char *const nans[] = {"", ",nan=bits", ",nan=never"};
    char *s = arena_printf(a, "exact");

    if (t->by_metrics)
        s = arena_printf(a, "mvnc");
    else if (t->ulp || t->absolute > 0 || t->relative > 0)
        s = arena_printf(a, "ulp=%" PRIu64 ",abs=%.9g,rel=%.9g", t->ulp,
                         t->absolute, t->relative);
    return arena_printf(a, "%s%s%s", s, nans[t->nan],
                        t->zero == DIFF_ZERO_EQUAL ? ",zero=equal" : "");
}

char *diff_index_text(const tensor_desc *d, uint64_t index, arena *a)
{
    uint32_t at[TENSOR_MAX_RANK];
    char *s = arena_printf(a, "[");

    diff_unravel(d, index, at);
    for (uint32_t i = 0; i < d->rank; i++)
        s = arena_printf(a, "%s%s%u", s, i ? "," : "", at[i]);
    return arena_printf(a, "%s]", s);
}

char *diff_summary(const diff_tensor *t, arena *a)
{
    const diff_result *r = &t->result;

    if (!r->n_diff)
        return arena_printf(
            a,
            "%s: all %" PRIu64 " elements equal (%s), at most %" PRIu64
            " ULP apart",
            t->name, r->n, diff_tolerance_text(&t->tolerance, a), r->max_ulp);
    return arena_printf(
        a,
        "%s: %" PRIu64 " of %" PRIu64 " elements differ (%s), first %s: "
        "%.9g, expected %.9g",
        t->name, r->n_diff, r->n, diff_tolerance_text(&t->tolerance, a),
        diff_index_text(&r->desc, r->first.index, a), r->first.a, r->first.b);
}

void diff_metric_rows(const diff_tensor *t, diff_metric_row *rows)
{
    const diff_metrics limits =
        t->tolerance.by_metrics ? t->tolerance.limits : DIFF_MVNC_LIMITS;
    const diff_metrics *m = &t->result.metrics;

    rows[0] =
        (diff_metric_row){"Obtained Min Pixel Accuracy", "min_pixel_accuracy",
                          m->min_accuracy, limits.min_accuracy};
    rows[1] = (diff_metric_row){"Obtained Average Pixel Accuracy",
                                "average_pixel_accuracy", m->average_accuracy,
                                limits.average_accuracy};
    rows[2] = (diff_metric_row){"Obtained Percentage of wrong values",
                                "wrong_values", m->wrong, limits.wrong};
    rows[3] = (diff_metric_row){"Obtained Pixel-wise L2 error", "pixel_wise_l2",
                                m->l2, limits.l2};
}

uint64_t diff_groups_failed(const diff_groups *g, uint32_t *worst)
{
    uint64_t n = 0;

    *worst = 0;
    for (uint32_t i = 0; i < g->n_cells; i++) {
        n += g->failed[i] != 0;
        if (g->failed[i] > g->failed[*worst])
            *worst = i;
    }
    return n;
}

/* --- text
 * ---------------------------------------------------------------------------
 */

static void element(const diff_tensor *t, const char *what,
                    const diff_element *e, const diff_writer *w, arena *a,
                    str *out)
{
    str_printf(out,
               "    %-10s %s: %.9g, expected %.9g, %" PRIu64 " ULP, %.6g apart",
               what, diff_index_text(&t->result.desc, e->index, a), e->a, e->b,
               e->ulp, e->apart);
    if (w)
        str_printf(out, "; group (%u,%u,%u), item (%u,%u,%u)", w->group[0],
                   w->group[1], w->group[2], w->local[0], w->local[1],
                   w->local[2]);
    str_puts(out, "\n");
}

static void histogram(const diff_result *r, str *out)
{
    str_puts(out, "    ULP apart      elements\n");
    for (uint32_t c = 0; c < DIFF_ULP_CLASSES; c++) {
        uint64_t low = c ? (uint64_t)1 << (c - 1) : 0;
        uint64_t high = c == 64 ? UINT64_MAX : c ? low * 2 - 1 : 0;

        if (!r->ulp_classes[c])
            continue;
        if (low == high)
            str_printf(out, "      %-12" PRIu64 " %" PRIu64 "\n", low,
                       r->ulp_classes[c]);
        else
            str_printf(out, "      %" PRIu64 " - %-8" PRIu64 " %" PRIu64 "\n",
                       low, high, r->ulp_classes[c]);
    }
    if (r->n_nan_a || r->n_nan_b)
        str_printf(out,
                   "      NaN          %" PRIu64 ", expected %" PRIu64 "\n",
                   r->n_nan_a, r->n_nan_b);
}

static void groups(const diff_tensor *t, str *out)
{
    const diff_groups *g = &t->places.groups;
    uint32_t worst;
    uint64_t n;

    str_printf(out, "    who wrote: %s\n", t->map.rule);
    if (!g->n_cells)
        return;
    n = diff_groups_failed(g, &worst);
    str_printf(out,
               "    work-groups with differences: %" PRIu64 " of %u%s, most in "
               "(%u,%u,%u): %" PRIu64 " elements\n",
               n, g->n_cells, g->per_cell > 1 ? " bunches" : "",
               (uint32_t)(worst * g->per_cell % g->groups[0]),
               (uint32_t)(worst * g->per_cell / g->groups[0] % g->groups[1]),
               (uint32_t)(worst * g->per_cell / g->groups[0] / g->groups[1]),
               g->failed[worst]);
}

static void tensor_text(const diff_tensor *t, arena *a, str *out)
{
    const diff_result *r = &t->result;
    diff_metric_row rows[4];

    str_printf(out, "  %s\n", diff_summary(t, a));
    if (r->n_diff) {
        element(t, "first", &r->first, t->located ? &t->first : NULL, a, out);
        element(t, "worst", &r->worst, t->located ? &t->worst : NULL, a, out);
        element(t, "worst ULP", &r->worst_ulp, NULL, a, out);
        groups(t, out);
    }
    if (t->output) {
        diff_metric_rows(t, rows);
        for (int i = 0; i < 4; i++)
            str_printf(out, "    %s: %.6g%% (max allowed=%g%%), %s\n",
                       rows[i].title, rows[i].value, rows[i].limit,
                       rows[i].value <= rows[i].limit ? "Pass" : "Fail");
    }
    if (r->max_ulp || r->n_nan_a || r->n_nan_b)
        histogram(r, out);
}

static void one_time(const backend_result *x, const backend_caps *caps,
                     str *out)
{
    if (caps->cycles)
        str_printf(out, " %14" PRIu64, x->cycles);
    else
        str_printf(out, " %14s", "-");
    str_printf(out, " %11.3f", x->seconds * 1e3);
}

static void stages(const diff_report *r, str *out)
{
    str_printf(out, "  %-32s %14s %11s %14s %11s\n", "stage", "cycles", "ms",
               "cycles", "ms");
    for (uint32_t i = 0; i < r->n_stages; i++) {
        const diff_stage *s = &r->stages[i];

        str_printf(out, "  %-32s", s->name);
        one_time(&s->a, &r->caps_a, out);
        one_time(&s->b, &r->caps_b, out);
        str_puts(out, !s->compared ? "\n"
                      : s->equal   ? "  equal\n"
                                   : "  DIFFERENT\n");
    }
}

void diff_report_text(const diff_report *r, str *out)
{
    static const char *const verdicts[] = {"equal", "DIFFERENT",
                                           "could not run"};
    arena *a = arena_create(0);

    str_printf(out, "%s: %s against %s: %s\n", r->layer, r->a, r->b,
               verdicts[r->verdict]);
    if (r->verdict == DIFF_NOT_RUN)
        str_printf(out, "  %s: %s\n", r->failed ? r->failed : "", r->error.msg);
    if (r->caps_a.promoted || r->caps_b.promoted)
        str_printf(out, "  %s computes halves as floats\n",
                   r->caps_a.promoted ? r->a : r->b);
    if (r->first_stage >= 0)
        str_printf(out, "  first stage that deviates: %s (kernel %s)\n",
                   r->stages[r->first_stage].name,
                   r->stages[r->first_stage].kernel);
    for (uint32_t i = 0; i < r->n_tensors; i++)
        tensor_text(&r->tensors[i], a, out);
    stages(r, out);
    arena_destroy(a);
}
