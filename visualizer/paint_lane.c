/* A lane of slices, column by column of device pixels. A column whose slices
 * are of one class is filled with it, one with several is a stack of their
 * shares: so nothing is drawn that is smaller than a pixel, and what is shown
 * is exact at every zoom. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/paint.h"

enum { DENSE = TL_BLOCK }; /* slices of a column */

/* From the bottom up: work, then waiting, what is worst on top. */
static const uint8_t stack_order[TL_N_CLASSES] = {
    TL_ISSUE,     TL_IN,        TL_OUT,       TL_OTHER,
    TL_OTHER + 1, TL_OTHER + 2, TL_OTHER + 3, TL_OTHER + 4,
    TL_OTHER + 5, TL_DMA_SETUP, TL_L2,        TL_STORE,
    TL_DDR,       TL_DMA_WAIT,  TL_DISPATCH,  TL_IDLE};

typedef struct {
    cv_canvas *c;
    const paint_page *p;
    const tl_row *r;
    const tl_lane *l;
    bool phases;
    cv_box at;
    double unit; /* logical width of a device pixel */
    /* Columns that look the same are drawn together: device pixels from the
     * bottom to the end of each class, in their order. */
    uint16_t tops[TL_N_CLASSES];
    uint64_t last[TL_N_CLASSES], last_span; /* what they were made of */
    int run_from, run_to;
    /* Of a spread row: the phase whose sums these are. */
    uint64_t phase_sums[TL_N_CLASSES], phase_from, phase_to;
} lane_painter;

static cv_color color_of(const lane_painter *k, int class)
{
    if (k->phases && class >= TL_OTHER && class < TL_OTHER + 3)
        return k->p->colors->phase[class - TL_OTHER];
    return paint_class_color(k->p,
                             k->r->kind == TL_ROW_BUNDLES ? TL_ISSUE : class);
}

static void flush(lane_painter *k)
{
    double x = k->at.x + k->run_from * k->unit;
    double w = (k->run_to - k->run_from) * k->unit, y = k->at.y + k->at.h;
    double below = 0;
    uint16_t last = 0;

    for (int i = 0; i < TL_N_CLASSES && k->run_to > k->run_from; i++) {
        int class = stack_order[i];
        double top;

        if (k->tops[i] == last)
            continue;
        last = k->tops[i];
        top = fmin(last * k->unit, k->at.h);
        cv_fill_pattern(
            k->c, (cv_box){x, y - top, w, top - below}, color_of(k, class),
            k->phases ? CV_PLAIN : k->p->colors->class_pattern[class]);
        below = top;
    }
}

static void stack(const lane_painter *k, uint16_t tops[TL_N_CLASSES])
{
    double height = k->at.h * k->c->scale;
    uint64_t sum = 0;
    uint16_t top = 0;

    for (int i = 0; i < TL_N_CLASSES; i++) {
        uint64_t part = k->last[stack_order[i]];

        sum += part;
        if (part && k->last_span)
            top = (uint16_t)fmin(
                height * (double)sum / (double)k->last_span + 0.5, UINT16_MAX);
        tops[i] = top;
    }
}

static void add_column(lane_painter *k, int column,
                       const uint64_t sums[TL_N_CLASSES], uint64_t span)
{
    uint16_t tops[TL_N_CLASSES];

    if (span != k->last_span || memcmp(k->last, sums, sizeof k->last)) {
        memcpy(k->last, sums, sizeof k->last);
        k->last_span = span;
        stack(k, tops);
        if (memcmp(k->tops, tops, sizeof tops)) {
            flush(k);
            memcpy(k->tops, tops, sizeof tops);
            k->run_from = column;
        }
    }
    k->run_to = column + 1;
}

/* At the edge of slices wider than the column the larger part has it all, which
 * keeps edges sharp; what fills a column alone fills it as 1 of 1, so that runs
 * are found. */
static void settle(uint64_t sums[TL_N_CLASSES], uint64_t *span, uint64_t slices)
{
    uint64_t covered = 0, most = 0;
    int class = -1, n = 0;

    for (int c = 0; c < TL_N_CLASSES; c++) {
        covered += sums[c];
        n += sums[c] > 0;
        if (sums[c] > most) {
            most = sums[c];
            class = c;
        }
    }
    if (n && ((n == 1 && covered == *span) || slices <= 2)) {
        bool shown = covered * 2 >= *span || slices <= 1;

        for (int c = 0; c < TL_N_CLASSES; c++)
            sums[c] = c == class && shown;
        *span = 1;
    }
}

/* In a row whose causes have no order: the shares of the whole phase. */
static void whole_phase(lane_painter *k, uint64_t t0, uint64_t t1,
                        uint64_t sums[TL_N_CLASSES], uint64_t *span)
{
    const tl_lane *phases = &k->r->lanes[0];
    uint64_t i, end;

    if (t0 < k->phase_to && t1 <= k->phase_to && t0 >= k->phase_from) {
        memcpy(sums, k->phase_sums, sizeof k->phase_sums);
        *span = k->phase_to - k->phase_from;
        return;
    }
    if (!tl_slice_at(phases, t0, &i))
        return;
    end = tl_end(phases, i);
    if (t1 > end)
        return;
    k->phase_from = tl_begin(phases, i);
    k->phase_to = end;
    tl_sums(k->p->view->tl, k->l, k->phase_from, k->phase_to, k->phase_sums);
    memcpy(sums, k->phase_sums, sizeof k->phase_sums);
    *span = k->phase_to - k->phase_from;
}

/* Columns of so many slices that half a pixel more or less does not show.
 */
static void paint_dense(lane_painter *k, double from, double per, int n)
{
    const tl_timeline *tl = k->p->view->tl;
    uint64_t sums[2][TL_N_CLASSES], t0, t1; /* in turn: before and after */
    uint64_t slack = (uint64_t)(per / 2);
    tl_cursor at = {0};

    t0 = tl_walk_near(tl, k->l, &at, (uint64_t)from, slack, sums[0]);
    for (int i = 0; i < n; i++, t0 = t1) {
        const uint64_t *before = sums[i % 2];
        uint64_t *after = sums[(i + 1) % 2];
        uint64_t column[TL_N_CLASSES], span;

        t1 = tl_walk_near(tl, k->l, &at, (uint64_t)(from + (i + 1) * per),
                          slack, after);
        for (int c = 0; c < TL_N_CLASSES; c++)
            column[c] = after[c] - before[c];
        span = t1 - t0;
        settle(column, &span, TL_BLOCK);
        add_column(k, i, column, span);
    }
    flush(k);
}

static void paint_columns(lane_painter *k)
{
    const tl_timeline *tl = k->p->view->tl;
    int n = (int)floor(k->at.w * k->c->scale);
    double from = k->p->view->from, per = (k->p->view->to - from) / n;
    tl_cursor a = {0}, b = {0};
    uint64_t last_end = UINT64_MAX, last_sums[TL_N_CLASSES] = {0};
    uint64_t slices = tl_count_before(k->l, (uint64_t)k->p->view->to) -
                      tl_count_before(k->l, (uint64_t)fmax(from, 0));

    if (n > 0 && from >= 0 && slices / (uint64_t)n >= DENSE) {
        paint_dense(k, from, per, n);
        return;
    }
    for (int i = 0; i < n; i++) {
        uint64_t t0 = (uint64_t)(from + i * per);
        uint64_t t1 = (uint64_t)(from + (i + 1) * per), first;
        uint64_t sums[TL_N_CLASSES], before[TL_N_CLASSES], span;

        t1 = t1 > t0 ? t1 : t0 + 1;
        if (t0 == last_end) {
            memcpy(before, last_sums, sizeof before);
            first = b.slice;
        } else {
            tl_walk(tl, k->l, &a, t0, before);
            first = a.slice;
        }
        tl_walk(tl, k->l, &b, t1, sums);
        memcpy(last_sums, sums, sizeof last_sums);
        last_end = t1;
        for (int c = 0; c < TL_N_CLASSES; c++)
            sums[c] -= before[c];
        span = t1 - t0;
        if (k->r->spread && !k->phases)
            whole_phase(k, t0, t1, sums, &span);
        else
            settle(sums, &span, b.slice - first + 1);
        add_column(k, i, sums, span);
    }
    flush(k);
}

/* Edges between neighbours and their names, where there is room for them. */
static void paint_slices(lane_painter *k)
{
    const view *v = k->p->view;
    uint64_t i = tl_count_before(k->l, (uint64_t)fmax(v->from, 0));
    uint64_t n = tl_count_before(k->l, (uint64_t)v->to + 1);
    double last = -1e9;

    i = i ? i - 1 : 0;
    if ((double)(n - i) * 2.5 > k->at.w)
        return;
    for (; i < n; i++) {
        double x0 = view_x(v, k->at.w, (double)tl_begin(k->l, i));
        double x1 = view_x(v, k->at.w, (double)tl_end(k->l, i));
        char name[300];

        if (x1 - x0 >= 3 && x0 > last && x0 >= 0 && x0 < k->at.w)
            cv_fill(k->c,
                    (cv_box){k->at.x + x0, k->at.y, 1 / k->c->scale, k->at.h},
                    k->p->colors->page);
        last = x0;
        x0 = fmax(x0, 0) + 3;
        x1 = fmin(x1, k->at.w) - 2;
        if (x1 - x0 < 14 || k->at.h < 9)
            continue;
        tl_slice_name(v->tl, k->l, i, name, sizeof name);
        /* Of "comp 7" the 7 says more. */
        if (tl_number(k->l, i) != TL_NO_NUMBER &&
            cv_text_width(k->c, CV_SMALL, name) > x1 - x0)
            snprintf(name, sizeof name, "%u", tl_number(k->l, i));
        cv_text_fit(
            k->c, (cv_slot){k->at.x + x0, k->at.y + k->at.h / 2, x1 - x0},
            CV_SMALL,
            theme_on(color_of(k, tl_class_of(v->tl, tl_name_of(k->l, i)))),
            name);
    }
}

void paint_lane(cv_canvas *c, const paint_page *p, const tl_row *r,
                const tl_lane *l, bool phases, cv_box at)
{
    lane_painter k = {.c = c,
                      .p = p,
                      .r = r,
                      .l = l,
                      .phases = phases,
                      .at = at,
                      .unit = 1 / c->scale};

    paint_columns(&k);
    if (!(tl_has_causes(r) && !phases))
        paint_slices(&k);
}

/* Equal columns are drawn together. */
typedef struct {
    cv_canvas *c;
    cv_color veil;
    cv_box at;
    int from, strength; /* of the run of columns, out of VEILS */
} veil_painter;

enum { VEILS = 4, VEIL_ALPHA = 208 };

static void veil_until(veil_painter *k, int column, int strength)
{
    double unit = 1 / k->c->scale;

    if (strength == k->strength)
        return;
    if (k->strength && column > k->from)
        cv_fill(k->c,
                (cv_box){k->at.x + k->from * unit, k->at.y,
                         (column - k->from) * unit, k->at.h},
                (k->veil & 0xffffff) |
                    (uint32_t)(VEIL_ALPHA * k->strength / VEILS) << 24);
    k->from = column;
    k->strength = strength;
}

void paint_off_path(cv_canvas *c, const paint_page *p, const view_row *row,
                    cv_box at)
{
    const view *v = p->view;
    const facts_stretch *s = NULL;
    uint64_t n = facts_path(&v->facts, v->tl, row->row, &s), k = 0;
    double end = fmin(v->to, (double)v->tl->end);
    int columns = (int)floor(fmax(view_x(v, at.w, end), 0) * c->scale);
    double per = (v->to - v->from) / (at.w * c->scale);
    veil_painter veil = {.c = c, .veil = p->colors->page, .at = at};

    for (int i = 0; i < columns; i++) {
        double t0 = v->from + i * per, t1 = t0 + per, on = 0;

        while (k < n && (double)s[k].end <= t0)
            k++;
        for (uint64_t j = k; j < n && (double)s[j].begin < t1; j++)
            on += fmin((double)s[j].end, t1) - fmax((double)s[j].begin, t0);
        veil_until(&veil, i, (int)floor(VEILS * (1 - on / per) + 0.5));
    }
    veil_until(&veil, columns, 0);
}

static double top_of(const paint_page *p, const tl_row *r)
{
    double top = r->counter->max;

    /* Full height is what DDR can carry, so that one sees when it does. */
    if (!strncmp(r->name, "DDR", 3))
        top = fmax(top, facts_capacity(&p->view->facts));
    for (uint32_t i = 0; p->beside && i < p->beside->n_rows; i++) {
        const tl_row *o = &p->beside->rows[i];

        if (o->counter && !strcmp(o->name, r->name))
            top = fmax(top, o->counter->max);
    }
    return top > 0 ? top : 1;
}

void paint_counter(cv_canvas *c, const paint_page *p, const tl_row *r,
                   cv_box at)
{
    const view *v = p->view;
    const tl_counter *k = r->counter;
    int n = (int)floor(at.w * c->scale);
    double per = (v->to - v->from) / n, top = top_of(p, r);

    double capacity =
        strncmp(r->name, "DDR", 3) ? 0 : facts_capacity(&v->facts);

    for (int i = 0; i < n; i++) {
        uint64_t t0 = (uint64_t)(v->from + i * per);
        uint64_t t1 = (uint64_t)(v->from + (i + 1) * per);
        double mean, high, x = at.x + i / c->scale, hm, hh;

        tl_mean(k, t0, t1 > t0 ? t1 : t0 + 1, &mean, &high);
        hm = fmax(0, fmin(mean / top, 1)) * at.h;
        hh = fmax(0, fmin(high / top, 1)) * at.h;
        cv_fill(c, (cv_box){x, at.y + at.h - hh, 1 / c->scale, hh},
                p->colors->area_light);
        cv_fill(c, (cv_box){x, at.y + at.h - hm, 1 / c->scale, hm},
                capacity > 0 && mean > 0.95 * capacity
                    ? p->colors->class_color[TL_DDR]
                    : p->colors->area);
    }
    if (capacity > 0)
        cv_fill(
            c,
            (cv_box){at.x, at.y + at.h * (1 - capacity / top),
                     fmax(0, fmin(at.w, view_x(v, at.w, (double)v->tl->end))),
                     1},
            p->colors->warn);
}
