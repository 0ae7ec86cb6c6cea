/* Rows on the page: where they are, what is at a point, what belongs to it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/view.h"

/* --- places -------------------------------------------------------------- */

/* As high as its part of the budget, so that the rows of a SHAVE are a map of
 * its local memory. */
static double local_height(const view *v, const view_row *r)
{
    enum { BUDGET = 44 };
    uint64_t budget = 0, bytes = v->facts.row_bytes[r->row];

    for (uint32_t i = 0; i < v->facts.n_stages; i++)
        if (v->facts.stages[i].local_budget > budget)
            budget = v->facts.stages[i].local_budget;
    if (r->folded)
        return 0;
    if (!budget || bytes > budget)
        return VIEW_LANE;
    return fmax(2, floor(BUDGET * (double)bytes / (double)budget));
}

/* Whether the name has one of the texts. */
static bool passes(const char *filter, const char *name)
{
    bool any = false;

    while (*filter) {
        size_t n = strcspn(filter, ","), skip = strspn(filter, " ");
        char text[VIEW_FILTER];

        if (skip < n) {
            memcpy(text, filter + skip, n - skip);
            for (text[n - skip] = 0; text[strlen(text) - 1] == ' ';)
                text[strlen(text) - 1] = 0;
            if (strcasestr(name, text))
                return true;
            any = true;
        }
        filter += n + (filter[n] == ',');
    }
    return !any;
}

bool view_is_hidden(const view *v, const view_row *r)
{
    return r->hidden || !passes(v->filter, v->tl->rows[r->row].name);
}

static double row_height(const view *v, const view_row *r)
{
    const tl_row *t = &v->tl->rows[r->row];

    if (view_is_hidden(v, r))
        return 0;
    if (t->kind == TL_ROW_COUNTER)
        return r->folded ? 14 : 40;
    if (t->kind == TL_ROW_HEAT)
        return r->folded ? 14 : fmin(fmax(4.0 * t->n_heat, 40), 96);
    if (t->kind == TL_ROW_LOCAL)
        return local_height(v, r);
    if (r->folded)
        return 10;
    if (tl_has_causes(t))
        return (VIEW_PHASES + VIEW_CAUSES) * (v->tall ? 1.7 : 1);
    return VIEW_LANE * t->n_lanes;
}

void view_layout(view *v)
{
    double y = 0;
    int last = -1; /* kind of the row above */

    for (int pinned = 1; pinned >= 0; pinned--)
        for (uint32_t i = 0; i < v->n_rows; i++) {
            view_row *r = &v->rows[i];
            const tl_row *t = &v->tl->rows[r->row];
            int kind = t->kind == TL_ROW_BUNDLES ? TL_ROW_SHAVE : (int)t->kind;

            if (r->pinned != (pinned == 1))
                continue;
            /* A little air where the kind changes. */
            r->h = row_height(v, r);
            if (r->h > 0 && last >= 0 && last != kind)
                y += 5;
            last = r->h > 0 ? kind : last;
            r->y = y;
            y += r->h > 0 ? r->h + (t->kind == TL_ROW_LOCAL ? 1 : VIEW_GAP) : 0;
        }
    v->height = y;
}

void view_lane_place(const view *v, const view_row *r, uint32_t lane, double *y,
                     double *h)
{
    const tl_row *t = &v->tl->rows[r->row];

    *y = 0;
    *h = r->h;
    if (tl_has_causes(t) && !r->folded) {
        double phases = r->h * VIEW_PHASES / (VIEW_PHASES + VIEW_CAUSES);

        *y = lane ? phases : 0;
        *h = lane ? r->h - phases : phases;
    } else if (!tl_has_causes(t) && t->n_lanes) {
        *h = r->h / t->n_lanes;
        *y = *h * lane;
    }
}

void view_fold(view *v, uint32_t at, bool folded)
{
    v->rows[at].folded = folded;
    view_layout(v);
}

void view_fold_kind(view *v, uint32_t at)
{
    tl_row_kind kind = v->tl->rows[v->rows[at].row].kind;
    bool any = false;

    for (uint32_t i = 0; i < v->n_rows; i++)
        any |= v->tl->rows[v->rows[i].row].kind == kind && v->rows[i].folded;
    for (uint32_t i = 0; i < v->n_rows; i++) {
        const tl_row *t = &v->tl->rows[v->rows[i].row];

        if (t->kind == kind)
            v->rows[i].folded = !any && (kind != TL_ROW_LOCAL || t->index);
    }
    view_layout(v);
}

void view_pin(view *v, uint32_t at, bool pinned)
{
    v->rows[at].pinned = pinned;
    view_layout(v);
}

void view_hide(view *v, uint32_t at, bool hidden)
{
    v->rows[at].hidden = hidden;
    view_layout(v);
}

void view_filter(view *v, const char *texts)
{
    snprintf(v->filter, sizeof v->filter, "%s", texts);
    view_layout(v);
}

void view_raise(view *v, uint32_t at, int by)
{
    int64_t to = (int64_t)at + by;
    view_row moved = v->rows[at];

    if (to < 0 || to >= (int64_t)v->n_rows)
        return;
    for (int64_t i = at; i != to; i += by > 0 ? 1 : -1)
        v->rows[i] = v->rows[i + (by > 0 ? 1 : -1)];
    v->rows[to] = moved;
    view_layout(v);
}

uint32_t view_row_at(const view *v, double y)
{
    for (uint32_t i = 0; i < v->n_rows; i++)
        if (v->rows[i].h > 0 && y >= v->rows[i].y &&
            y < v->rows[i].y + v->rows[i].h)
            return i;
    return UINT32_MAX;
}

/* --- marked rows ---------------------------------------------------------- */

void view_mark_rows(view *v, double y0, double y1)
{
    double lo = fmin(y0, y1), hi = fmax(y0, y1);

    v->has_area = false;
    for (uint32_t i = 0; i < v->n_rows; i++) {
        const view_row *r = &v->rows[i];
        bool in = r->h > 0 && r->y <= hi && r->y + r->h > lo;

        v->area[r->row] = in;
        v->has_area |= in;
    }
}

bool view_in_area(const view *v, uint32_t row)
{
    return !v->has_range || !v->has_area || v->area[row];
}

uint32_t view_area_rows(const view *v)
{
    uint32_t n = 0;

    for (uint32_t i = 0; v->has_range && v->has_area && i < v->n_rows; i++)
        n += v->area[v->rows[i].row];
    return n;
}

/* --- slices at a point --------------------------------------------------- */

static bool longest_in(const tl_lane *l, uint64_t from, uint64_t to,
                       uint64_t *slice)
{
    uint64_t i = tl_count_before(l, from), n = tl_count_before(l, to), most = 0;
    bool found = false;

    if (i)
        i--;          /* it may reach into the stretch */
    if (n - i > 4096) /* nobody can tell which of thousands is meant */
        n = i + 4096;
    for (; i < n; i++) {
        uint64_t a = tl_begin(l, i), b = a + tl_length(l, i);

        a = a < from ? from : a;
        b = b > to ? to : b;
        if (b > a && b - a > most) {
            most = b - a;
            *slice = i;
            found = true;
        }
    }
    return found;
}

bool view_hit(const view *v, double width, double x, double y, view_slice *out)
{
    uint32_t at = view_row_at(v, y);
    double t0 = view_t(v, width, floor(x)), t1 = view_t(v, width, floor(x) + 1);
    const tl_row *r;

    if (at == UINT32_MAX || x < 0 || x >= width)
        return false;
    r = &v->tl->rows[v->rows[at].row];
    for (uint32_t lane = r->lanes ? r->n_lanes : 0; lane-- > 0;) {
        double ly, lh;
        uint64_t slice, a = (uint64_t)fmax(t0, 0), b = (uint64_t)ceil(t1);

        view_lane_place(v, &v->rows[at], lane, &ly, &lh);
        if (y < v->rows[at].y + ly || y >= v->rows[at].y + ly + lh)
            continue;
        if (!longest_in(&r->lanes[lane], a, b > a ? b : a + 1, &slice))
            continue;
        *out = (view_slice){v->rows[at].row, lane, slice};
        return true;
    }
    return false;
}

/* The value of a counter at a time, and how long it holds. */
static void value_at(const view *v, const tl_counter *c, uint64_t t,
                     view_point *out)
{
    uint64_t lo = 0, hi = c->n_values;

    while (lo < hi) {
        uint64_t mid = lo + (hi - lo) / 2;

        if (c->time[mid] <= t)
            lo = mid + 1;
        else
            hi = mid;
    }
    out->from = lo ? c->time[lo - 1] : v->tl->begin;
    out->to = lo < c->n_values ? c->time[lo] : v->tl->end;
    out->value = lo ? c->value[lo - 1] : 0;
    if (out->to < out->from)
        out->to = out->from;
}

bool view_heat_at(const view *v, double width, double x, double y,
                  view_point *out)
{
    uint32_t at = view_row_at(v, y);
    double t = view_t(v, width, x), lane;
    const tl_row *r;

    if (at == UINT32_MAX || x < 0 || x >= width || t < 0 ||
        t >= (double)v->tl->end)
        return false;
    r = &v->tl->rows[v->rows[at].row];
    if (r->kind != TL_ROW_HEAT)
        return false;
    lane = floor((y - v->rows[at].y) / v->rows[at].h * r->n_heat);
    *out = (view_point){.row = v->rows[at].row,
                        .lane = (uint32_t)fmin(fmax(lane, 0), r->n_heat - 1)};
    value_at(v, v->tl->rows[r->heat[out->lane]].counter, (uint64_t)t, out);
    return true;
}

/* --- what belongs together --------------------------------------------- */

void view_select(view *v, const view_slice *s)
{
    v->has_selection = s != NULL;
    v->has_point = false;
    if (s)
        v->selection = *s;
}

void view_choose(view *v, const view_point *at)
{
    view_select(v, NULL);
    v->has_point = true;
    v->point = *at;
}

void view_reveal(view *v, const view_slice *s)
{
    const tl_lane *l = view_lane_of(v, s);
    double a = (double)tl_begin(l, s->slice);
    double b = a + (double)tl_length(l, s->slice), span = v->to - v->from;

    if (a >= v->from && b <= v->to)
        return;
    if (b - a > span * 0.8)
        span = (b - a) / 0.8;
    view_show(v, (a + b) / 2 - span / 2, (a + b) / 2 + span / 2);
}

bool view_flow(const view *v, const view_slice *s, int dir, view_slice *out)
{
    enum { FAR = 4096 }; /* a group's phases are near each other */
    const tl_row *r = &v->tl->rows[s->row];
    const tl_lane *l = &r->lanes[s->lane];
    uint64_t i = s->slice;

    if (r->kind != TL_ROW_SHAVE || s->lane || tl_number(l, i) == TL_NO_NUMBER)
        return false;
    for (int k = 0; k < FAR; k++) {
        tl_arg a = {0}, b = {0};

        if (dir < 0 ? !i : i + 1 >= l->n_slices)
            return false;
        i += dir < 0 ? UINT64_MAX : 1;
        if (tl_number(l, i) != tl_number(l, s->slice))
            continue;
        if (tl_name_of(l, i) == tl_name_of(l, s->slice))
            return false; /* the same phase: another launch */
        tl_slice_arg(v->tl, l, i, "launch", &a);
        tl_slice_arg(v->tl, l, s->slice, "launch", &b);
        *out = (view_slice){s->row, s->lane, i};
        /* A kernel may be launched twice, under one name. */
        return a.text == b.text &&
               facts_stage_at(&v->facts, tl_begin(l, i)) ==
                   facts_stage_at(&v->facts, tl_begin(l, s->slice));
    }
    return false;
}

/* The SHAVE whose group a slice is about. */
static bool shave_of(const view *v, const view_slice *s, uint32_t *index)
{
    const tl_row *r = &v->tl->rows[s->row];
    const tl_lane *l = &r->lanes[s->lane];
    tl_arg a;

    if (tl_number(l, s->slice) == TL_NO_NUMBER)
        return false;
    *index = r->index;
    if (r->kind == TL_ROW_SHAVE || r->kind == TL_ROW_LOCAL)
        return true;
    if (!tl_slice_arg(v->tl, l, s->slice, "shave", &a))
        return false;
    *index = (uint32_t)a.number;
    return r->kind == TL_ROW_DMA || r->kind == TL_ROW_PATH;
}

/* Of the slices near `at` of a row the one with that number, in the stage. */
static bool numbered_near(const tl_lane *l, uint64_t at, uint32_t number,
                          const facts_stage *stage, uint64_t *slice)
{
    enum { FAR = 16 }; /* a SHAVE has two groups at a time */
    uint64_t from = at > FAR ? at - FAR : 0;

    for (uint64_t i = from; i < at + FAR && i < l->n_slices; i++)
        if (tl_number(l, i) == number && tl_begin(l, i) >= stage->begin &&
            tl_begin(l, i) < stage->end) {
            *slice = i;
            return true;
        }
    return false;
}

bool view_slack_of(const view *v, const view_slice *s, view_slack *out)
{
    const tl_lane *l = view_lane_of(v, s);
    const facts_stage *stage = facts_stage_at(&v->facts, tl_begin(l, s->slice));
    tl_arg slack, on_path;
    uint32_t index;
    uint64_t i;

    if (!shave_of(v, s, &index))
        return false;
    for (uint32_t k = 0; k < v->tl->n_rows; k++) {
        const tl_row *r = &v->tl->rows[k];

        if (r->kind != TL_ROW_SLACK || r->index != index || !r->lanes ||
            !r->lanes[0].has_numbers)
            continue;
        if (!numbered_near(&r->lanes[0],
                           tl_count_before(&r->lanes[0], tl_begin(l, s->slice)),
                           tl_number(l, s->slice), stage, &i) ||
            !tl_slice_arg(v->tl, &r->lanes[0], i, "slack", &slack))
            return false;
        *out = (view_slack){.slack = slack.number};
        out->on_path = tl_slice_arg(v->tl, &r->lanes[0], i, "on critical path",
                                    &on_path) &&
                       on_path.number;
        return true;
    }
    return false;
}
