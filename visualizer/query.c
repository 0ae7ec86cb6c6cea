/* Questions to a timeline: what is at a time, how much of what between two. */
#include <stdio.h>
#include <string.h>

#include "visualizer/names.h"
#include "visualizer/timeline.h"

uint64_t tl_length(const tl_lane *l, uint64_t i)
{
    uint64_t lo = 0, hi = l->n_longs;

    if (l->length[i] != UINT32_MAX)
        return l->length[i];
    while (lo < hi) {
        uint64_t mid = (lo + hi) / 2;

        if (l->longs[mid].slice < i)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < l->n_longs && l->longs[lo].slice == i ? l->longs[lo].length
                                                      : l->length[i];
}

void tl_slice_name(const tl_timeline *tl, const tl_lane *l, uint64_t i,
                   char *to, size_t n)
{
    const char *base = tl_text(tl, l->name[i]);

    if (l->number && l->number[i] != UINT32_MAX)
        snprintf(to, n, "%s %u", base, l->number[i]);
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
    return count_before(l->begin, 0, l->n_slices, t);
}

bool tl_slice_at(const tl_lane *l, uint64_t t, uint64_t *slice)
{
    uint64_t n = count_before(l->begin, 0, l->n_slices, t + 1);

    /* Empty slices at t stand before the one that covers it, or after. */
    while (n && l->begin[n - 1] + tl_length(l, n - 1) <= t) {
        if (tl_length(l, n - 1))
            return false;
        n--;
    }
    *slice = n - 1;
    return n;
}

/* --- sums ---------------------------------------------------------------- */

/* The cursor to the last block that begins before t, if that is further on. */
static void to_block(const tl_lane *l, tl_cursor *at, uint64_t t)
{
    uint64_t lo = at->slice / TL_BLOCK + 1, step = 1, hi;

    if (lo >= l->n_sums || l->block[lo] >= t)
        return;
    while (lo + step < l->n_sums && l->block[lo + step] < t) {
        lo += step;
        step *= 2;
    }
    hi = lo + step < l->n_sums ? lo + step : l->n_sums;
    while (lo + 1 < hi) {
        uint64_t mid = (lo + hi) / 2;

        if (l->block[mid] < t)
            lo = mid;
        else
            hi = mid;
    }
    at->slice = lo * TL_BLOCK;
    memcpy(at->before, l->sums[lo], sizeof at->before);
}

/* Then slice by slice, at most TL_BLOCK, to the first that begins at t or
 * later. */
static void to_slice(const tl_timeline *tl, const tl_lane *l, tl_cursor *at,
                     uint64_t t)
{
    const uint8_t *class = tl->names->class;

    for (; at->slice < l->n_slices && l->begin[at->slice] < t; at->slice++) {
        uint64_t length = l->length[at->slice];

        if (length == UINT32_MAX)
            length = tl_length(l, at->slice);
        at->before[class[l->name[at->slice]]] += length;
    }
}

void tl_walk(const tl_timeline *tl, const tl_lane *l, tl_cursor *at, uint64_t t,
             uint64_t sums[TL_N_CLASSES])
{
    to_block(l, at, t);
    to_slice(tl, l, at, t);
    memcpy(sums, at->before, sizeof at->before);
    if (at->slice) { /* the part of the last one behind t */
        uint64_t i = at->slice - 1, end = l->begin[i] + tl_length(l, i);

        if (end > t)
            sums[tl_class_of(tl, l->name[i])] -= end - t;
    }
}

uint64_t tl_walk_near(const tl_timeline *tl, const tl_lane *l, tl_cursor *at,
                      uint64_t t, uint64_t slack, uint64_t sums[TL_N_CLASSES])
{
    uint64_t block;

    to_block(l, at, t);
    block = at->slice / TL_BLOCK;
    /* What began before a block has ended when the block begins. */
    if (at->slice % TL_BLOCK == 0 && block < l->n_sums && at->slice &&
        l->block[block] < t && t - l->block[block] <= slack) {
        memcpy(sums, at->before, sizeof at->before);
        return l->block[block];
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

static uint64_t get_varint(const uint8_t **p)
{
    uint64_t u = 0;

    for (int shift = 0;; shift += 7) {
        uint8_t c = *(*p)++;

        u |= (uint64_t)(c & 127) << shift;
        if (c < 128)
            return u;
    }
}

size_t tl_unpack_args(const tl_timeline *tl, uint64_t at, tl_arg *args,
                      size_t cap)
{
    const uint8_t *p = tl->blob + at;
    size_t n;

    if (at >= tl->n_blob)
        return 0;
    n = get_varint(&p);
    for (size_t i = 0; i < n && i < cap; i++) {
        uint64_t key = get_varint(&p);

        args[i] = (tl_arg){.name = (tl_name)(key >> 2), .kind = key & 3};
        if (args[i].kind == TL_ARG_REAL) {
            memcpy(&args[i].real, p, 8);
            p += 8;
        } else if (args[i].kind == TL_ARG_UINT) {
            args[i].number = get_varint(&p);
        } else {
            args[i].text = (tl_name)get_varint(&p);
        }
    }
    return n < cap ? n : cap;
}

size_t tl_slice_args(const tl_timeline *tl, const tl_lane *l, uint64_t slice,
                     tl_arg *args, size_t cap)
{
    uint64_t lo = 0, hi = l->n_args;
    size_t n = 0;

    while (lo < hi) {
        uint64_t mid = (lo + hi) / 2;

        if (l->arg_slice[mid] < slice)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < l->n_args && l->arg_slice[lo] == slice && n < cap; lo++)
        n += tl_unpack_args(tl, l->arg_at[lo], args + n, cap - n);
    return n;
}

bool tl_slice_arg(const tl_timeline *tl, const tl_lane *l, uint64_t slice,
                  const char *name, tl_arg *out)
{
    tl_arg args[64];
    size_t n = tl_slice_args(tl, l, slice, args, 64);

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
