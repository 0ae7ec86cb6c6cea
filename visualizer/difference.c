/* Where along A's time B loses and gains: each work-group that both traces have
 * spreads its difference evenly over the time that A spends on it. */
#include <math.h>
#include <stdlib.h>

#include "visualizer/compare.h"

static int by_time(const void *x, const void *y)
{
    const compare_step *a = x, *b = y;

    return (a->at > b->at) - (a->at < b->at);
}

/* Its slice in A; false: it has none, or it is not of that kind. */
static bool place(const compare *c, const compare_row *r, compare_kind kind,
                  double *from, double *to)
{
    const tl_lane *l;

    if (r->kind != kind || !r->in[0] || !r->in[1] || r->at[0].row == UINT32_MAX)
        return false;
    l = &c->tl[0]->rows[r->at[0].row].lanes[r->at[0].lane];
    *from = (double)tl_begin(l, r->at[0].slice);
    *to = (double)tl_end(l, r->at[0].slice);
    return *to > *from;
}

static uint64_t count(const compare *c, compare_kind kind)
{
    double from, to;
    uint64_t n = 0;

    for (uint64_t i = 0; i < c->n_rows; i++)
        n += place(c, &c->rows[i], kind, &from, &to);
    return n;
}

bool compare_make_steps(compare *c)
{
    compare_kind kind = COMPARE_GROUP;
    uint64_t n = count(c, kind);
    double rate = 0, sum = 0, from, to;

    if (!n)
        n = count(c, kind = COMPARE_STAGE);
    c->steps = calloc(2 * n + 1, sizeof *c->steps);
    if (!c->steps)
        return false;
    c->steps_of = kind;
    for (uint64_t i = 0; i < c->n_rows; i++) {
        const compare_row *r = &c->rows[i];
        double lost;

        if (!place(c, r, kind, &from, &to))
            continue;
        lost = (r->time[1] - r->time[0]) / (to - from);
        c->steps[c->n_steps++] = (compare_step){from, lost, 0};
        c->steps[c->n_steps++] = (compare_step){to, -lost, 0};
    }
    if (c->n_steps)
        qsort(c->steps, c->n_steps, sizeof *c->steps, by_time);
    for (uint64_t i = 0; i < c->n_steps; i++) {
        if (i)
            sum += rate * (c->steps[i].at - c->steps[i - 1].at);
        rate += c->steps[i].rate;
        c->steps[i].rate = rate;
        c->steps[i].sum = sum;
    }
    return true;
}

/* What is lost from the trace's begin up to t. */
static double lost_before(const compare *c, double t)
{
    uint64_t low = 0, high = c->n_steps;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (c->steps[middle].at <= t)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return 0;
    return c->steps[low - 1].sum +
           c->steps[low - 1].rate * (t - c->steps[low - 1].at);
}

double compare_lost(const compare *c, double from, double to)
{
    return lost_before(c, to) - lost_before(c, from);
}
