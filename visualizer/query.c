/* Questions to a timeline: what is at a time, how much of what between two. */
#include <stdio.h>
#include <string.h>

#include "visualizer/columns.h"
#include "visualizer/names.h"
#include "visualizer/timeline.h"

void tl_slice_name(const tl_timeline *tl, const tl_lane *l, uint64_t i,
                   char *to, size_t n)
{
    const char *base = tl_text(tl, tl_name_of(l, i));
    uint32_t number = tl_number(l, i);

    if (number != TL_NO_NUMBER)
        snprintf(to, n, "%s %u", base, number);
    else
        snprintf(to, n, "%s", base);
}

static uint64_t count_before(const uint64_t *time, uint64_t lo, uint64_t hi,
                             uint64_t t)
{
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;

        if (time[mid] < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

uint64_t tl_count_before(const tl_lane *l, uint64_t t)
{
    uint64_t block = count_before(l->block_begin, 0, l->n_block_begin, t);
    uint64_t lo, hi;

    if (!block)
        return 0;
    lo = (block - 1) * TL_BLOCK;
    hi = lo + TL_BLOCK < l->n_slices ? lo + TL_BLOCK : l->n_slices;
    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;

        if (tl_begin(l, mid) < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool tl_slice_at(const tl_lane *l, uint64_t t, uint64_t *slice)
{
    uint64_t n = t == UINT64_MAX ? l->n_slices : tl_count_before(l, t + 1);

    /* Empty slices at t stand before the one that covers it, or after. */
    while (n && tl_end(l, n - 1) <= t) {
        if (tl_length(l, n - 1))
            return false;
        n--;
    }
    *slice = n - 1;
    return n;
}

/* --- sums ---------------------------------------------------------------- */

/* The last block from `lo` on that begins before t, as lo does; looked for
 * around `guess`, at lo or behind it. */
static uint64_t block_near(const tl_lane *l, uint64_t lo, uint64_t guess,
                           uint64_t t)
{
    uint64_t hi = l->n_block_begin, step = 1;

    if (guess < hi && l->block_begin[guess] < t) {
        lo = guess;
        for (; step < hi - lo && l->block_begin[lo + step] < t; step *= 2)
            lo += step;
        hi = step < hi - lo ? lo + step : hi;
    } else {
        hi = guess < hi ? guess : hi;
        for (; step < hi - lo && l->block_begin[hi - step] >= t; step *= 2)
            hi -= step;
        lo = step < hi - lo ? hi - step : lo;
    }
    while (lo + 1 < hi) {
        uint64_t mid = (lo + hi) / 2;

        if (l->block_begin[mid] < t)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* The cursor to the last block that begins before t, if that is further on. A
 * painter's steps are equal, and so are blocks, about: the next is as far. */
static void to_block(const tl_lane *l, tl_cursor *at, uint64_t t)
{
    uint64_t was = at->slice / TL_BLOCK, block, next;

    if (was + 1 >= l->n_block_begin || l->block_begin[was + 1] >= t)
        return;
    block = block_near(l, was + 1, was + 1 + at->skipped, t);
    at->skipped = block - was - 1;
    at->slice = block * TL_BLOCK;
    tl_block_sums(l, block, at->before);
    next = block + 1 + at->skipped;
    if (next < l->n_block_begin) {
        __builtin_prefetch(&l->block_begin[next]);
        __builtin_prefetch(&l->sums[next * l->cap_classes]);
    }
}

/* Then slice by slice to the first that begins at t or later. */
static void to_slice(const tl_timeline *tl, const tl_lane *l, tl_cursor *at,
                     uint64_t t)
{
    tl_spread *s = &at->spread;

    while (at->slice < l->n_slices) {
        uint64_t block = at->slice / TL_BLOCK, i = at->slice % TL_BLOCK;

        if (!i && l->block_begin[block] >= t)
            return;
        if (at->n_spread != block + 1)
            tl_spread_block(l, block, tl->names->class, s);
        at->n_spread = block + 1;
        for (; i < s->n && s->begin[i] < t; i++)
            at->before[s->class[i]] += s->length[i];
        at->slice = block * TL_BLOCK + i;
        if (i < s->n)
            return;
    }
}

void tl_walk(const tl_timeline *tl, const tl_lane *l, tl_cursor *at, uint64_t t,
             uint64_t sums[TL_N_CLASSES])
{
    to_block(l, at, t);
    to_slice(tl, l, at, t);
    memcpy(sums, at->before, sizeof at->before);
    if (at->slice) { /* the part of the last one behind t */
        uint64_t i = at->slice - 1, end = tl_end(l, i);

        if (end > t)
            sums[tl_class_of(tl, tl_name_of(l, i))] -= end - t;
    }
}

uint64_t tl_walk_near(const tl_timeline *tl, const tl_lane *l, tl_cursor *at,
                      uint64_t t, uint64_t slack, uint64_t sums[TL_N_CLASSES])
{
    uint64_t block;

    to_block(l, at, t);
    block = at->slice / TL_BLOCK;
    /* What began before a block has ended when the block begins. */
    if (at->slice % TL_BLOCK == 0 && block < l->n_block_begin && at->slice &&
        l->block_begin[block] < t && t - l->block_begin[block] <= slack) {
        memcpy(sums, at->before, sizeof at->before);
        return l->block_begin[block];
    }
    tl_walk(tl, l, at, t, sums);
    return t;
}

void tl_sums(const tl_timeline *tl, const tl_lane *l, uint64_t from,
             uint64_t to, uint64_t sums[TL_N_CLASSES])
{
    tl_cursor at = {0};
    uint64_t before[TL_N_CLASSES];

    memset(sums, 0, TL_N_CLASSES * sizeof *sums);
    if (to <= from)
        return;
    tl_walk(tl, l, &at, from, before);
    tl_walk(tl, l, &at, to, sums);
    for (int c = 0; c < TL_N_CLASSES; c++)
        sums[c] -= before[c];
}

/* --- counters ------------------------------------------------------------ */

/* Integral up to t, from the first point. n: points before or at t. */
static double integral_to(const tl_counter *c, uint64_t t, uint64_t *n)
{
    uint64_t i, last;
    double sum;

    *n = t == UINT64_MAX ? c->n_values
                         : count_before(c->time, 0, c->n_values, t + 1);
    if (!*n)
        return 0;
    last = *n - 1;
    i = last / TL_BLOCK * TL_BLOCK;
    sum = c->integral[i / TL_BLOCK];
    for (; i < last; i++)
        sum += c->value[i] * (double)(c->time[i + 1] - c->time[i]);
    return sum + c->value[last] * (double)(t - c->time[last]);
}

void tl_mean(const tl_counter *c, uint64_t from, uint64_t to, double *mean,
             double *highest)
{
    uint64_t a, b;
    double first = integral_to(c, from, &a), high;

    *mean =
        (integral_to(c, to, &b) - first) / (double)(to > from ? to - from : 1);
    if (b && c->time[b - 1] == to && to > from)
        b = count_before(c->time, 0, b, to); /* a point at to is outside */
    high = a ? c->value[a - 1] : 0;
    for (uint64_t i = a; i < b;) {
        bool whole = i % TL_BLOCK == 0 && i + TL_BLOCK <= b;
        double v = whole ? c->highest[i / TL_BLOCK] : c->value[i];

        if (v > high)
            high = v;
        i += whole ? TL_BLOCK : 1;
    }
    *highest = high;
}

/* --- arguments ----------------------------------------------------------- */

size_t tl_instant_args(const tl_timeline *tl, const tl_instant *at,
                       tl_arg *args, size_t cap)
{
    return at->arg_at < tl->n_blob
               ? tl_unpack_args(tl->blob + at->arg_at, args, cap)
               : 0;
}

bool tl_slice_arg(const tl_timeline *tl, const tl_lane *l, uint64_t slice,
                  const char *name, tl_arg *out)
{
    tl_arg args[TL_SLICE_ARGS];
    size_t n = tl_slice_args(tl, l, slice, args, TL_SLICE_ARGS);

    for (size_t i = 0; i < n; i++)
        if (!strcmp(tl_text(tl, args[i].name), name)) {
            *out = args[i];
            return true;
        }
    return false;
}

double tl_ns(const tl_timeline *tl, uint64_t ticks)
{
    return tl->clk_mhz ? (double)ticks * 1000.0 / tl->clk_mhz : (double)ticks;
}
