/* A comparison: deltas on rows and slices, the list of what got slower, and
 * one trace inside the other's rows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/paint.h"

enum { HEAD = 62, ITEM = 34, PAD = 14 };

static cv_color badge_color(const paint_page *p, const compare_row *r)
{
    return r->in[0] && r->in[1] && r->time[1] < r->time[0]
               ? p->colors->class_color[TL_ISSUE]
               : p->colors->class_color[TL_DDR];
}

/* A trace of stages only says nothing about what runs in them. */
static bool both_have_shaves(const compare *c)
{
    bool has[2] = {false};

    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < c->tl[side]->n_rows; i++)
            has[side] |= c->tl[side]->rows[i].kind == TL_ROW_SHAVE;
    return has[0] && has[1];
}

bool paint_row_delta(const paint_page *p, const tl_row *r, char *to, size_t n)
{
    compare_row sum = {.kind = COMPARE_SHAVE};

    if (!p->cmp || (r->kind != TL_ROW_SHAVE && r->kind != TL_ROW_STAGES))
        return false;
    if (r->kind == TL_ROW_SHAVE && !both_have_shaves(p->cmp))
        return false;
    for (uint32_t i = 0; i < p->cmp->n_pairs; i++) {
        const compare_row *row = compare_find(
            p->cmp, r->kind == TL_ROW_SHAVE ? COMPARE_SHAVE : COMPARE_STAGE, i,
            r->kind == TL_ROW_SHAVE ? r->index : 0);

        for (int side = 0; row && side < 2; side++) {
            sum.in[side] |= row->in[side];
            sum.time[side] += row->time[side];
        }
    }
    compare_badge(&sum, to, n);
    return sum.in[0] || sum.in[1];
}

/* --- on the rows --------------------------------------------------------- */

static bool line_runs_in(const paint_page *p, const tl_lane *l, uint64_t i)
{
    const view *v = p->view;
    const facts_stage *s = facts_stage_at(&v->facts, tl_begin(l, i));

    return facts_cost_of(&v->facts, s, tl_text(v->tl, tl_name_of(l, i)),
                         v->line_file, v->line)
        .total;
}

/* A bar on top of the chosen line's bundles; of a great many, none. */
static void mark_bundles(cv_canvas *c, const paint_page *p,
                         const paint_boxes *b, const view_row *row)
{
    enum { MOST = 20000 };
    const view *v = p->view;
    const tl_lane *l = &v->tl->rows[row->row].lanes[0];
    uint64_t i = tl_count_before(l, (uint64_t)fmax(v->from, 0));
    uint64_t n = tl_count_before(l, (uint64_t)v->to + 1);
    double y = b->rows.y + row->y - v->scroll - VIEW_GAP, last = 0;

    i = i ? i - 1 : 0;
    for (; v->line_file && n - i <= MOST && i < n; i++) {
        double x0 = fmax(last, view_x(v, b->rows.w, (double)tl_begin(l, i)));
        double x1 = fmin(b->rows.w, view_x(v, b->rows.w, (double)tl_end(l, i)));

        if (x1 <= x0 || !view_bundle_on(v, &(view_slice){row->row, 0, i},
                                        v->line_file, v->line))
            continue;
        last = fmax(x1, x0 + 1 / c->scale); /* each pixel once */
        cv_fill(c, (cv_box){b->rows.x + x0, y, last - x0, VIEW_GAP},
                p->colors->select);
    }
}

static void badge(cv_canvas *c, const paint_page *p, const compare_row *r,
                  cv_box at)
{
    char text[32];
    double w;

    if (r->in[0] && r->in[1] && r->time[0] == r->time[1])
        return;
    compare_badge(r, text, sizeof text);
    w = cv_text_width(c, CV_SMALL, text) + 6;
    if (at.w < w + 44) /* the name comes first */
        return;
    cv_fill(c, (cv_box){at.x + at.w - w - 1, at.y + 1, w, at.h - 2},
            p->colors->page);
    cv_text(c, at.x + at.w - w + 2, at.y + at.h / 2, CV_SMALL,
            badge_color(p, r), text);
}

/* Bars upwards: B takes longer for what A does then; downwards: less. */
void paint_difference(cv_canvas *c, const paint_page *p, const paint_boxes *b)
{
    const compare *cmp = p->cmp;
    const view *v = p->view;
    cv_box at = b->difference;
    double middle = at.y + at.h / 2 - 2, half = at.h / 2 - 5, most = 0;
    int n = (int)fmax(at.w / 2, 1);
    char text[96], number[48];

    for (int i = 0; i < n; i++)
        most =
            fmax(most,
                 fabs(compare_lost(cmp, view_t(v, n, i), view_t(v, n, i + 1))));
    cv_text(c, b->labels.x, middle - 7, CV_NORMAL, p->colors->text,
            cmp->steps_of == COMPARE_GROUP ? "groups, B \xe2\x88\x92 A"
                                           : "stages, B \xe2\x88\x92 A");
    paint_number(number, sizeof number, compare_lost(cmp, v->from, v->to));
    snprintf(text, sizeof text, "%s%s %s",
             compare_lost(cmp, v->from, v->to) > 0 ? "+" : "", number,
             cmp->unit);
    cv_text_fit(c, (cv_slot){b->labels.x, middle + 8, b->labels.w - 8},
                CV_SMALL, p->colors->dim, text);
    for (int i = 0; i < n && most > 0; i++) {
        double lost = compare_lost(cmp, view_t(v, n, i), view_t(v, n, i + 1));
        double h = half * fabs(lost) / most;

        if (h < 0.25)
            continue;
        cv_fill(c,
                (cv_box){at.x + at.w * i / n, lost > 0 ? middle - h : middle,
                         at.w / n, h},
                p->colors->class_color[lost > 0 ? TL_DDR : TL_ISSUE]);
    }
    cv_fill(c, (cv_box){at.x, middle, at.w, 1}, p->colors->strong_line);
}

static void mark_lane(cv_canvas *c, const paint_page *p, const paint_boxes *b,
                      const view_row *row, double h)
{
    const view *v = p->view;
    const tl_row *r = &v->tl->rows[row->row];
    const tl_lane *l = &r->lanes[0];
    uint64_t i = tl_count_before(l, (uint64_t)fmax(v->from, 0));
    uint64_t n = tl_count_before(l, (uint64_t)v->to + 1);
    double y = b->rows.y + row->y - v->scroll;

    i = i ? i - 1 : 0;
    if ((double)(n - i) * 2 > b->rows.w)
        return;
    for (; i < n; i++) {
        view_slice s = {row->row, 0, i};
        const compare_row *g =
            p->cmp ? compare_of_slice(p->cmp, p->side, &s) : NULL;
        double x0 = fmax(0, view_x(v, b->rows.w, (double)tl_begin(l, i)));
        double x1 = fmin(b->rows.w, view_x(v, b->rows.w, (double)tl_end(l, i)));

        if (x1 <= x0)
            continue;
        if (v->line_file && v->facts.n_costs && r->kind == TL_ROW_SHAVE &&
            !line_runs_in(p, l, i)) /* without a profile nobody knows */
            cv_fill(c, (cv_box){b->rows.x + x0, y, x1 - x0, row->h},
                    p->colors->shade);
        if (g)
            badge(c, p, g, (cv_box){b->rows.x + x0, y, x1 - x0, h});
    }
}

void paint_badges(cv_canvas *c, const paint_page *p, const paint_boxes *b)
{
    const view *v = p->view;
    bool shaves;

    if (!p->cmp && !v->line_file)
        return;
    shaves = p->cmp && both_have_shaves(p->cmp);
    for (uint32_t i = 0; i < v->n_rows; i++) {
        const view_row *row = &v->rows[i];
        const tl_row *r = &v->tl->rows[row->row];

        if (p->cmp && r->kind == TL_ROW_SHAVE && !shaves && !v->line_file)
            continue;
        if (row->h < 10 || !r->lanes ||
            (r->kind != TL_ROW_SHAVE && r->kind != TL_ROW_STAGES &&
             r->kind != TL_ROW_BUNDLES))
            continue;
        if (r->kind == TL_ROW_BUNDLES) {
            mark_bundles(c, p, b, row);
            continue;
        }
        mark_lane(c, p, b, row,
                  (r->kind == TL_ROW_SHAVE ? VIEW_PHASES : row->h) /
                      (p->under ? 2 : 1));
    }
    for (uint32_t i = 0; v->line_file && i < v->facts.n_stages; i++) {
        const facts_stage *s = &v->facts.stages[i];
        double x0 = fmax(0, view_x(v, b->rows.w, (double)s->begin));
        double x1 = fmin(b->rows.w, view_x(v, b->rows.w, (double)s->end));

        if (x1 > x0 &&
            facts_cost_of(&v->facts, s, NULL, v->line_file, v->line).total)
            cv_fill(c, (cv_box){b->rows.x + x0, b->rows.y - 4, x1 - x0, 3},
                    p->colors->select);
    }
}

/* --- one in the other ---------------------------------------------------- */

static const view_row *same_row(const view *v, const tl_row *r)
{
    for (uint32_t i = 0; i < v->n_rows; i++) {
        const tl_row *o = &v->tl->rows[v->rows[i].row];

        if (o->kind == r->kind && !strcmp(o->name, r->name))
            return &v->rows[i];
    }
    return NULL;
}

void paint_under(cv_canvas *c, const paint_page *p, const view_row *row,
                 cv_box at)
{
    const view_row *other = same_row(p->under, &p->view->tl->rows[row->row]);
    const compare_row *group =
        p->view->has_selection
            ? compare_of_slice(p->cmp, 0, &p->view->selection)
            : NULL;
    double shift =
        compare_shift(p->cmp, group, (p->view->from + p->view->to) / 2);
    double ratio = p->view->tl->clk_mhz && p->under->tl->clk_mhz
                       ? (double)p->under->tl->clk_mhz / p->view->tl->clk_mhz
                       : 1;
    paint_page below = *p;
    view_row half = *row;
    view moved = *p->under;

    half.h = at.h = floor(at.h / 2);
    paint_row(c, p, &half, at);
    at.y += at.h;
    cv_fill(c, (cv_box){at.x, at.y, at.w, 1}, p->colors->page);
    if (!other)
        return;
    moved.from = p->view->from * ratio + shift;
    moved.to = p->view->to * ratio + shift;
    moved.has_selection = false;
    below.view = &moved;
    below.has_hover = false;
    half = *other;
    half.folded = row->folded;
    half.h = at.h;
    paint_row(c, &below, &half, at);
}

/* --- the list ------------------------------------------------------------ */

uint64_t paint_change_at(const paint_page *p, double y)
{
    paint_boxes b;
    double row;

    paint_layout(p, &b);
    row = floor((y - b.panel.y - HEAD) / ITEM);
    if (!p->cmp || p->shows != PANEL_CHANGES || row < 0 ||
        y > b.panel.y + b.panel.h)
        return 0;
    row += p->change > 8 ? (double)(p->change - 8) : 0;
    return row < (double)p->cmp->n_slower ? (uint64_t)row + 1 : 0;
}

static void paint_item(cv_canvas *c, const paint_page *p, uint64_t i, double x,
                       double y, double w)
{
    const compare_row *r = &p->cmp->rows[p->cmp->slower[i]];
    char name[200], text[160], delta[48], short_badge[32];
    tl_class why = compare_reason(r);
    double d = r->time[1] - r->time[0];

    compare_name(p->cmp, r, name, sizeof name);
    compare_badge(r, short_badge, sizeof short_badge);
    cv_text_right(c, x + w, y + 10, CV_BOLD,
                  d == 0 ? p->colors->dim : badge_color(p, r), short_badge);
    cv_text_fit(c, (cv_slot){x, y + 10, w - 70}, CV_NORMAL, p->colors->text,
                name);
    paint_number(delta, sizeof delta, d);
    snprintf(text, sizeof text, "%s%s %s%s%s", d > 0 ? "+" : "", delta,
             p->cmp->unit, why < TL_N_CAUSES && d != 0 ? ", mostly " : "",
             why < TL_N_CAUSES && d != 0 ? tl_class_name(why) : "");
    cv_text_fit(c, (cv_slot){x, y + 24, w}, CV_SMALL, p->colors->dim, text);
    if (p->change == i + 1)
        cv_frame(c, (cv_box){x - 6, y, w + 12, ITEM - 2}, p->colors->select);
}

void paint_changes(cv_canvas *c, const paint_page *p, cv_box at)
{
    uint64_t slower = 0, first = p->change > 8 ? p->change - 8 : 0;
    char text[128];

    while (slower < p->cmp->n_slower &&
           p->cmp->rows[p->cmp->slower[slower]].time[1] >
               p->cmp->rows[p->cmp->slower[slower]].time[0])
        slower++;
    cv_fill(c, at, p->colors->panel);
    cv_fill(c, (cv_box){at.x, at.y, 1, at.h}, p->colors->line);
    cv_clip(c, at);
    cv_text(c, at.x + PAD, at.y + 18, CV_BOLD, p->colors->text,
            "What got slower, from A to B");
    snprintf(text, sizeof text, "%llu slower, %llu faster, %llu in all",
             (unsigned long long)slower,
             (unsigned long long)(p->cmp->n_slower - slower),
             (unsigned long long)p->cmp->n_rows);
    cv_text(c, at.x + PAD, at.y + 38, CV_SMALL, p->colors->dim, text);
    for (uint64_t i = first; i < p->cmp->n_slower; i++) {
        double y = at.y + HEAD + (double)(i - first) * ITEM;

        if (y + ITEM > at.y + at.h)
            break;
        paint_item(c, p, i, at.x + PAD, y, at.w - 2 * PAD);
    }
    cv_unclip(c);
}
