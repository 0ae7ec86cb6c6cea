/* Lines of a table: percentiles, order, the slices behind a line, CSV. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "visualizer/export.h"
#include "visualizer/table_priv.h"

/* --- percentiles ---------------------------------------------------------- */

/* The k-th smallest of n, in time that grows with n: each turn splits what is
 * left by one of its own, picked without a pattern that an order could meet. */
static uint64_t nth(uint64_t *a, uint64_t n, uint64_t k)
{
    uint64_t lo = 0, hi = n, seed = n * 2 + 1;

    for (;;) {
        uint64_t pivot, less = lo, i = lo, more = hi;

        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
        pivot = a[lo + (seed >> 20) % (hi - lo)];
        while (i < more) {
            uint64_t x = a[i];

            if (x < pivot) {
                a[i++] = a[less];
                a[less++] = x;
            } else if (x > pivot) {
                a[i] = a[--more];
                a[more] = x;
            } else {
                i++;
            }
        }
        if (k < less)
            hi = less;
        else if (k >= more)
            lo = more;
        else
            return pivot;
    }
}

/* The place of a percentile among n > 0 in order, from 0. */
static uint64_t rank_of(uint64_t n, unsigned percent)
{
    return n / 100 * percent + (n % 100 * percent + 99) / 100 - 1;
}

void table_percentiles(table_line *l, uint64_t *lengths, uint64_t n)
{
    if (!n)
        return;
    l->p50 = nth(lengths, n, rank_of(n, 50));
    l->p99 = nth(lengths, n, rank_of(n, 99));
}

/* As if a bucket's lengths lay evenly in it. */
static uint64_t estimate(const table_line *l, uint64_t rank)
{
    uint64_t before = 0, low, high;
    int b = 0;

    while (b + 1 < TABLE_BUCKETS && before + l->histogram[b] <= rank)
        before += l->histogram[b++];
    low = b ? UINT64_C(1) << (b - 1) : 0;
    high = b ? low * 2 - 1 : 0;
    low = low < l->min ? l->min : low;
    high = high > l->max || b + 1 == TABLE_BUCKETS ? l->max : high;
    return low +
           (uint64_t)((double)(high - low) * ((double)(rank - before) + 0.5) /
                      (double)l->histogram[b]);
}

void table_estimate(table_line *l)
{
    l->p50 = estimate(l, rank_of(l->count, 50));
    l->p99 = estimate(l, rank_of(l->count, 99));
    l->estimated = true;
}

/* --- order ---------------------------------------------------------------- */

double table_mean(const table_line *l)
{
    return l->count ? (double)l->whole / (double)l->count : 0;
}

static double figure(const table_line *l, table_column c)
{
    switch (c) {
    case TABLE_BY_COUNT:
        return (double)l->count;
    case TABLE_BY_SHARE:
        return l->share;
    case TABLE_BY_MEAN:
        return table_mean(l);
    case TABLE_BY_P50:
        return (double)l->p50;
    case TABLE_BY_P99:
        return (double)l->p99;
    case TABLE_BY_MIN:
        return (double)l->min;
    case TABLE_BY_MAX:
        return (double)l->max;
    default:
        return (double)l->total;
    }
}

static int by_name(const table_line *a, const table_line *b)
{
    int d = strcmp(a->name, b->name);

    if (!d && a->stage && b->stage)
        d = strcmp(a->stage, b->stage);
    if (!d)
        d = (int)a->kind - (int)b->kind;
    return d ? d : (int)a->causes - (int)b->causes;
}

static int compare_lines(const void *a, const void *b, void *user)
{
    const table_look *look = user;
    const table_line *x = a, *y = b;
    int d = 0;

    if (look->column != TABLE_BY_NAME) {
        double p = figure(x, look->column), q = figure(y, look->column);

        d = p > q ? -1 : p < q;
    }
    if (!d)
        d = by_name(x, y);
    return look->reversed ? -d : d;
}

void table_order(table_result *r)
{
    if (r->n_lines)
        qsort_r(r->lines, r->n_lines, sizeof *r->lines, compare_lines,
                &r->look);
}

void table_sort_by(table_look *look, table_column column)
{
    look->reversed = look->column == column && !look->reversed;
    look->column = column;
}

/* --- slices of a line ----------------------------------------------------- */

static bool is_of(const table_result *r, const view *v, const tl_row *row,
                  uint32_t lane, uint64_t slice, const table_line *l)
{
    table_key k = table_key_of(r->look.grouping, v, row, lane, slice);

    return k.name == l->name && k.stage == l->stage && k.kind == l->kind &&
           k.causes == l->causes;
}

uint32_t table_line_of(const table_result *r, const view *v,
                       const view_slice *s)
{
    const tl_row *row = &v->tl->rows[s->row];

    if (!table_has_lane(r->look.grouping, row, s->lane))
        return UINT32_MAX;
    for (uint32_t i = 0; i < r->n_lines; i++)
        if (!r->lines[i].rest &&
            is_of(r, v, row, s->lane, s->slice, &r->lines[i]))
            return i;
    return UINT32_MAX;
}

/* Slices are in order of (begin, row of the table, lane). */
typedef struct {
    uint64_t begin;
    int64_t place; /* row and lane */
    uint64_t slice;
} moment;

/* The first of the line in a lane: behind a moment unless NULL, and beginning
 * before a time. */
static bool next_in(const table_result *r, const view *v, const table_line *l,
                    const moment *after, int64_t place, uint64_t before,
                    view_slice *s)
{
    const tl_row *row = &v->tl->rows[s->row];
    const tl_lane *lane = &row->lanes[s->lane];
    uint64_t behind = r->to, i = table_first(lane, r->from, &behind);

    if (after) {
        uint64_t j =
            place == after->place
                ? after->slice + 1
                : tl_count_before(lane, after->begin + (place < after->place));

        i = j > i ? j : i;
    }
    for (; i < behind && tl_begin(lane, i) < before; i++)
        if (is_of(r, v, row, s->lane, i, l)) {
            s->slice = i;
            return true;
        }
    return false;
}

static bool next_after(const table_result *r, const view *v,
                       const table_line *l, const moment *after,
                       view_slice *out)
{
    uint64_t best = UINT64_MAX;
    bool found = false;

    for (uint32_t k = 0; k < r->n_rows; k++) {
        const tl_row *row = &v->tl->rows[r->rows[k]];

        for (uint32_t lane = 0; lane < row->n_lanes; lane++) {
            view_slice s = {r->rows[k], lane, 0};

            if (!table_has_lane(r->look.grouping, row, lane) ||
                !next_in(r, v, l, after, (int64_t)k * TL_MAX_LANES + lane, best,
                         &s))
                continue;
            best = tl_begin(&row->lanes[lane], s.slice);
            found = true;
            *out = s;
        }
    }
    return found;
}

bool table_next(const table_result *r, const view *v, uint32_t line,
                view_slice *out)
{
    const table_line *l = line < r->n_lines ? &r->lines[line] : NULL;
    const view_slice *s = &v->selection;
    moment after = {.place = -1, .slice = s->slice};

    if (!l || l->rest)
        return false;
    if (!v->has_selection)
        return next_after(r, v, l, NULL, out);
    after.begin = tl_begin(view_lane_of(v, s), s->slice);
    for (uint32_t k = 0; k < r->n_rows; k++)
        if (r->rows[k] == s->row)
            after.place = (int64_t)k * TL_MAX_LANES + s->lane;
    return next_after(r, v, l, &after, out) || next_after(r, v, l, NULL, out);
}

/* --- texts ---------------------------------------------------------------- */

const char *table_kind(const table_line *l)
{
    static const char *const kinds[] = {
        [TL_ROW_SHAVE] = "SHAVE phase", [TL_ROW_LOCAL] = "local memory",
        [TL_ROW_DMA] = "DMA transfer",  [TL_ROW_COUNTER] = "counter",
        [TL_ROW_STAGES] = "stage",      [TL_ROW_PATH] = "critical path",
        [TL_ROW_SLACK] = "slack",       [TL_ROW_BUNDLES] = "bundle",
        [TL_ROW_OTHER] = "slice",       [TL_ROW_HEAT] = "heat map",
        [TL_ROW_HEAT_LANE] = "counter"};

    if (!l->causes)
        return kinds[l->kind];
    return l->kind == TL_ROW_PATH ? "cause on the path" : "SHAVE cause";
}

const char *table_grouping_name(table_grouping g)
{
    static const char *const names[] = {"name", "stage", "phase", "cause"};

    return names[g];
}

const char *table_column_name(table_column c)
{
    static const char *const names[] = {
        "total", "count", "share", "mean", "p50", "p99", "min", "max", "name"};

    return names[c];
}

static void write_line(FILE *f, const table_line *l)
{
    bool first = true;

    export_quoted(f, l->rest ? "(other names)" : l->name);
    fprintf(f, ",%s,", table_kind(l));
    export_quoted(f, l->stage ? l->stage : "");
    putc(',', f);
    export_quoted(f, l->kernel ? l->kernel : "");
    fprintf(f, ",%llu,%llu,%.6f", (unsigned long long)l->count,
            (unsigned long long)l->total, l->share);
    if (l->count)
        fprintf(f, ",%.3f,%llu,%llu,%llu,%llu,%d", table_mean(l),
                (unsigned long long)l->p50, (unsigned long long)l->p99,
                (unsigned long long)l->min, (unsigned long long)l->max,
                !l->estimated);
    else
        fputs(",,,,,,", f);
    for (int c = 0; c < TL_N_CAUSES; c++)
        fprintf(f, ",%llu", (unsigned long long)l->cause[c]);
    fputs(",\"", f);
    for (int b = 0; b < TABLE_BUCKETS; b++)
        if (l->histogram[b]) {
            fprintf(f, "%s%llu:%llu", first ? "" : " ",
                    b ? 1ull << (b - 1) : 0ull,
                    (unsigned long long)l->histogram[b]);
            first = false;
        }
    fputs("\"\r\n", f);
}

vpu_status table_csv(const table_result *r, const view *v, const char *path,
                     vpu_error *err)
{
    const char *unit = v->tl->clk_mhz ? "cycles" : "ticks";
    file_out out;
    vpu_status st = file_out_open(&out, path, err);

    if (st)
        return st;
    fprintf(out.stream,
            "name,kind,stage,kernel,count,total_%s,share,mean_%s,p50_%s,p99_%s,"
            "min_%s,max_%s,exact",
            unit, unit, unit, unit, unit, unit);
    for (int c = 0; c < TL_N_CAUSES; c++) {
        fputs(",", out.stream);
        for (const char *s = tl_class_name((tl_class)c); *s; s++)
            putc(*s == ' ' ? '_' : *s, out.stream);
    }
    fputs(",histogram\r\n", out.stream);
    for (uint32_t i = 0; i < r->n_lines; i++)
        write_line(out.stream, &r->lines[i]);
    st = file_out_commit(&out, err);
    file_out_abandon(&out);
    return st;
}
