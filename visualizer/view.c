/* The visible stretch of time, its history, and units. */
#include "visualizer/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const double LEAST = 8; /* ticks */

static bool has_content(const tl_row *r)
{
    return (r->lanes && r->n_lanes) || (r->counter && r->counter->n_values) ||
           r->n_heat;
}

static int rank(const tl_row *r)
{
    static const int ranks[] = {
        [TL_ROW_STAGES] = 0,  [TL_ROW_PATH] = 1,      [TL_ROW_SHAVE] = 2,
        [TL_ROW_LOCAL] = 3,   [TL_ROW_DMA] = 4,       [TL_ROW_COUNTER] = 5,
        [TL_ROW_HEAT] = 6,    [TL_ROW_OTHER] = 7,     [TL_ROW_SLACK] = -1,
        [TL_ROW_BUNDLES] = 7, [TL_ROW_HEAT_LANE] = -1};

    return ranks[r->kind];
}

/* Counters of tensors are low where they are many. */
static void fold_many(view *v)
{
    enum { MANY = 6 };
    const tl_timeline *tl = v->tl;
    uint64_t group = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; tl->clk_mhz && i < tl->n_rows; i++)
        if (!strcmp(tl->rows[i].name, "buffers"))
            group = tl->rows[i].uuid;
    for (uint32_t i = 0; i < v->n_rows; i++)
        n += group && tl->rows[v->rows[i].row].parent == group;
    for (uint32_t i = 0; n > MANY && i < v->n_rows; i++)
        v->rows[i].folded = tl->rows[v->rows[i].row].parent == group;
}

enum { MAX_BUNDLES = 64 }; /* rows that get a place of their own */

/* Rows of bundles that belong below a SHAVE's; how many. */
static uint32_t rows_of_bundles(const tl_timeline *tl, uint32_t *rows)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < tl->n_rows && n < MAX_BUNDLES; i++)
        if (tl->rows[i].kind == TL_ROW_BUNDLES && has_content(&tl->rows[i]))
            rows[n++] = i;
    return n;
}

/* A SHAVE's with its bundles below; area: the rows that have a place. */
static void add_row(view *v, uint32_t row, const uint32_t *bundles, uint32_t n)
{
    const tl_row *r = &v->tl->rows[row];

    v->rows[v->n_rows++].row = row;
    v->area[row] = true;
    for (uint32_t i = 0; r->kind == TL_ROW_SHAVE && i < n; i++) {
        const tl_row *b = &v->tl->rows[bundles[i]];

        if (!v->area[bundles[i]] && b->index == r->index &&
            b->parent == r->parent)
            add_row(v, bundles[i], NULL, 0);
    }
}

vpu_status view_init(view *v, const tl_timeline *tl, vpu_error *err)
{
    uint32_t bundles[MAX_BUNDLES], n = rows_of_bundles(tl, bundles);

    *v = (view){.tl = tl, .extent = tl->end};
    if (facts_make(tl, &v->facts, err))
        return err->code;
    v->rows = calloc(tl->n_rows + 1, sizeof *v->rows);
    v->area = calloc(tl->n_rows + 1, sizeof *v->area);
    if (!v->rows || !v->area)
        return err_set(err, VPU_ERR_NOMEM, "no memory for %u rows", tl->n_rows);
    for (int k = 0; k <= 7; k++)
        for (uint32_t i = 0; i < tl->n_rows; i++)
            if (rank(&tl->rows[i]) == k && has_content(&tl->rows[i]) &&
                !v->area[i])
                add_row(v, i, bundles, n);
    memset(v->area, 0, tl->n_rows * sizeof *v->area);
    fold_many(v);
    /* One SHAVE's local memory stands for all until more are asked for. */
    for (uint32_t i = 0; i < v->n_rows; i++)
        v->rows[i].folded |= tl->rows[v->rows[i].row].kind == TL_ROW_LOCAL &&
                             tl->rows[v->rows[i].row].index;
    view_layout(v);
    view_fit(v);
    return VPU_OK;
}

void view_free(view *v)
{
    free(v->rows);
    free(v->area);
    facts_free(&v->facts);
    *v = (view){0};
}

/* --- the stretch --------------------------------------------------------- */

double view_x(const view *v, double width, double t)
{
    return (t - v->from) / (v->to - v->from) * width;
}

double view_t(const view *v, double width, double x)
{
    return v->from + x / width * (v->to - v->from);
}

void view_move(view *v, double from, double to)
{
    double first = (double)v->tl->begin, last = (double)v->extent;
    double all = fmax(last - first, LEAST), span = to - from;

    if (!(span >= LEAST)) { /* also NaN */
        from = (from + to) / 2 - LEAST / 2;
        span = LEAST;
    }
    if (span > all)
        span = all;
    if (!(from >= first))
        from = first;
    if (from + span > first + all)
        from = first + all - span;
    v->from = from;
    v->to = from + span;
}

void view_show(view *v, double from, double to)
{
    view_move(v, from, to);
    if (v->n_history && v->history[v->at_history].from == v->from &&
        v->history[v->at_history].to == v->to)
        return;
    if (v->n_history)
        v->at_history++;
    if (v->at_history == VIEW_HISTORY) {
        memmove(v->history, v->history + 1,
                (VIEW_HISTORY - 1) * sizeof *v->history);
        v->at_history--;
    }
    v->history[v->at_history] = (view_span){v->from, v->to};
    v->n_history = v->at_history + 1;
}

void view_fit(view *v)
{
    double first = (double)v->tl->begin, last = (double)v->extent;

    view_show(v, first, fmax(last, first + LEAST));
}

void view_zoom(view *v, double factor, double at)
{
    view_move(v, at - (at - v->from) * factor, at + (v->to - at) * factor);
}

void view_pan(view *v, double share)
{
    double by = (v->to - v->from) * share;

    view_move(v, v->from + by, v->to + by);
}

void view_back(view *v)
{
    view_span *h = &v->history[v->at_history];

    /* From where movements led, first to where they began. */
    if (h->from == v->from && h->to == v->to && v->at_history)
        h = &v->history[--v->at_history];
    v->from = h->from;
    v->to = h->to;
}

void view_forward(view *v)
{
    if (v->at_history + 1 >= v->n_history)
        return;
    v->at_history++;
    v->from = v->history[v->at_history].from;
    v->to = v->history[v->at_history].to;
}

void view_mark(view *v, double a, double b)
{
    double first = (double)v->tl->begin, last = (double)v->extent;
    double lo = fmin(fmax(fmin(a, b), first), last);
    double hi = fmin(fmax(fmax(a, b), first), last);

    v->range_from = (uint64_t)(lo + 0.5);
    v->range_to = (uint64_t)(hi + 0.5);
    v->has_range = v->range_to > v->range_from;
    v->has_area = false;
}

/* --- units --------------------------------------------------------------- */

/* Ticks of one unit, and its name. */
static double unit_ticks(const view *v, double step, const char **name)
{
    double per_ns = v->tl->clk_mhz ? v->tl->clk_mhz / 1000.0 : 1;
    view_unit u = v->unit;

    if (u == VIEW_AUTO) {
        double ns = step / per_ns;

        u = v->tl->clk_mhz && ns < 20 ? VIEW_CYCLES
            : ns < 1e3                ? VIEW_NS
            : ns < 1e6                ? VIEW_US
                                      : VIEW_MS;
    }
    if (u == VIEW_CYCLES && v->tl->clk_mhz) {
        *name = "cycles";
        return 1;
    }
    *name = u == VIEW_MS ? "ms" : u == VIEW_US ? "\xc2\xb5s" : "ns";
    return per_ns * (u == VIEW_MS ? 1e6 : u == VIEW_US ? 1e3 : 1);
}

/* Digits in threes, with thin spaces. */
static void group_digits(char *to, size_t n, double value, int decimals)
{
    char plain[64];
    size_t at = 0, len, whole;

    snprintf(plain, sizeof plain, "%.*f", decimals, value);
    len = strlen(plain);
    whole = strcspn(plain, ".,");
    for (size_t i = 0; i < len && at + 4 < n; i++) {
        if (i && i < whole && (whole - i) % 3 == 0 && plain[i - 1] != '-') {
            memcpy(to + at, "\xe2\x80\x89", 3);
            at += 3;
        }
        to[at++] = plain[i] == ',' ? '.' : plain[i];
    }
    to[at] = 0;
}

void view_time_text(const view *v, double ticks, double step, char *to,
                    size_t n)
{
    const char *name;
    double unit = unit_ticks(v, step > 0 ? step : fabs(ticks), &name);
    double value = ticks / unit;
    int decimals = 0;
    char digits[64];

    if (step > 0)
        decimals = (int)ceil(-log10(step / unit) - 1e-9);
    else if (unit != 1)
        decimals = fabs(value) < 10 ? 3 : fabs(value) < 100 ? 2 : 1;
    decimals = decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
    group_digits(digits, sizeof digits, value, decimals);
    snprintf(to, n, "%s %s", digits, name);
}

double view_step(const view *v, double width, double room)
{
    double least = (v->to - v->from) / width * room, unit, step;
    const char *name;

    unit = unit_ticks(v, least, &name);
    step = pow(10, floor(log10(least / unit)));
    while (step * unit < least) {
        double digit = step / pow(10, floor(log10(step) + 1e-9));

        step *= digit < 1.5 ? 2 : digit < 2.5 ? 2.5 : 2;
    }
    if (step * unit < 1)
        return 1;
    return step * unit;
}

bool view_parse_time(const tl_timeline *tl, const char *text, double *ticks)
{
    static const struct {
        const char *suffix;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"cycles", 0}, {"", 0}};
    double per_ns = tl->clk_mhz ? tl->clk_mhz / 1000.0 : 1;
    size_t n = strspn(text, "0123456789.eE+-");
    char number[64];
    double value;

    if (!n || n >= sizeof number)
        return false;
    memcpy(number, text, n);
    number[n] = 0;
    if (!str_to_f64(number, &value) || !(value >= 0 && value < 1e18))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(text + n, units[i].suffix)) {
            *ticks = units[i].ns > 0 ? value * units[i].ns * per_ns : value;
            return true;
        }
    return false;
}
