/* The page: title, legend, axis, rows, and where they are. */
#include "visualizer/paint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/links.h"

enum {
    TITLE = 34,
    LEGEND = 24,
    AXIS = 26,
    LABELS = 136,
    MINIMAP = 40,
    STATUS = 24,
    DIFFERENCE = 40,
    MARGIN = 12
};

const paint_panel paint_panels[PAINT_N_PANELS] = {
#define PANEL(id, name, compares, width, painter) \
    {name, compares, width, painter},
#include "visualizer/panels.def"
};

/* The panel that the page has: without a comparison there is none to show. */
static const paint_panel *panel_of(const paint_page *p)
{
    const paint_panel *wanted = &paint_panels[p->shows];

    return wanted->compares && !p->cmp ? &paint_panels[PANEL_FIGURES] : wanted;
}

paint_panel_kind paint_shows(paint_panel_kind wanted, bool both, int side)
{
    return paint_panels[wanted].compares && both && side ? PANEL_FIGURES
                                                         : wanted;
}

static double difference_height(const paint_page *p)
{
    return p->cmp && !p->side && p->cmp->n_steps ? DIFFERENCE : 0;
}

void paint_layout(const paint_page *p, paint_boxes *b)
{
    cv_box a = p->area;
    double bottom = a.y + a.h - (p->status ? STATUS : 6), x, w;
    bool panel = p->panel && a.w >= 860;
    double side = p->panel_width > 0
                      ? fmin(fmax(p->panel_width, 180), a.w * 0.75)
                      : fmin(panel_of(p)->width, a.w * 0.45);

    *b = (paint_boxes){0};
    b->title = (cv_box){a.x + MARGIN, a.y, a.w - 2 * MARGIN, TITLE};
    b->legend = (cv_box){a.x + MARGIN, a.y + TITLE, a.w - 2 * MARGIN, LEGEND};
    if (p->status)
        b->status = (cv_box){a.x, bottom, a.w, STATUS};
    if (panel)
        b->panel = (cv_box){a.x + a.w - side, a.y + TITLE + LEGEND, side,
                            bottom - a.y - TITLE - LEGEND};
    x = a.x + MARGIN + LABELS;
    w = a.x + a.w - (panel ? side : 0) - MARGIN - x;
    if (w < 40)
        w = 40;
    if (p->minimap) {
        bottom -= MINIMAP;
        b->minimap = (cv_box){x, bottom + 6, w, MINIMAP - 12};
    }
    b->axis = (cv_box){x, a.y + TITLE + LEGEND, w, AXIS};
    b->difference = (cv_box){x, b->axis.y + AXIS, w, difference_height(p)};
    b->rows = (cv_box){x, b->axis.y + AXIS + b->difference.h, w, 0};
    b->rows.h = bottom - b->rows.y;
    if (b->rows.h < 0)
        b->rows.h = 0;
    b->labels = (cv_box){a.x + MARGIN, b->rows.y, LABELS, b->rows.h};
    if (p->minimap && p->view->height > b->rows.h && b->rows.h > 0) {
        double share = b->rows.h / p->view->height;

        b->bar = (cv_box){x + w + 3, b->rows.y, MARGIN - 5, b->rows.h};
        b->thumb = b->bar;
        b->thumb.h = fmax(share * b->bar.h, 12);
        b->thumb.y += (b->bar.h - b->thumb.h) * p->view->scroll /
                      (p->view->height - b->rows.h);
    }
}

double paint_height(const paint_page *p)
{
    return TITLE + LEGEND + AXIS + difference_height(p) + p->view->height + 4 +
           (p->minimap ? MINIMAP : 0) + (p->status ? STATUS : 6);
}

void paint_number(char *to, size_t n, double value)
{
    double a = fabs(value);
    int decimals = a >= 100 || a == 0 ? 0 : a >= 10 ? 1 : a >= 1 ? 2 : 3;

    snprintf(to, n, "%.*f", decimals, value);
}

cv_color paint_class_color(const paint_page *p, int class)
{
    cv_color c = p->colors->class_color[class], page = p->colors->page, out = 0;

    if (!p->view->only || p->view->only == class + 1)
        return c;
    for (int shift = 0; shift < 24; shift += 8)
        out |= ((c >> shift & 255) + 4 * (page >> shift & 255)) / 5 << shift;
    return out | 0xff000000;
}

/* --- title and legend ---------------------------------------------------- */

/* Names of rows that are hidden, at the right of the title. */
static void paint_hidden(cv_canvas *c, const paint_page *p, cv_slot at)
{
    const view *v = p->view;
    str text = {0};
    uint32_t n = 0;

    for (uint32_t i = 0; i < v->n_rows; i++)
        if (v->rows[i].hidden)
            str_printf(&text, "%s%s", n++ ? ", " : "hidden (H shows): ",
                       v->tl->rows[v->rows[i].row].name);
    if (v->filter[0])
        str_printf(&text, "%srows with %s%s", n ? "; " : "", v->filter,
                   n ? "" : " (H shows all)");
    if (text.n && p->status)
        cv_text_fit(c, at, CV_NORMAL, p->colors->dim, str_text(&text));
    str_free(&text);
}

static void paint_title(cv_canvas *c, const paint_page *p, cv_box at)
{
    const tl_timeline *tl = p->view->tl;
    double y = at.y + at.h / 2 + 2, x = at.x;
    char total[64], cycles[64], line[256];
    view whole = *p->view;

    x += cv_text(c, x, y, CV_TITLE, p->colors->text, p->title) + 14;
    whole.unit = VIEW_AUTO;
    view_time_text(&whole, (double)tl->end, 0, total, sizeof total);
    whole.unit = VIEW_CYCLES;
    view_time_text(&whole, (double)tl->end, 0, cycles, sizeof cycles);
    if (tl->clk_mhz)
        snprintf(line, sizeof line, "%s   %s at %u MHz", cycles, total,
                 tl->clk_mhz);
    else
        snprintf(line, sizeof line, "%s", total);
    x += cv_text(c, x, y, CV_NORMAL, p->colors->text, line) + 14;
    if (p->cmp && p->minimap && !p->side) { /* pictures have a banner */
        compare_headline(p->cmp, "A", "B", line, sizeof line);
        x += cv_text(c, x, y, CV_BOLD, p->colors->text, line) + 14;
    }
    if (tl->partial[0]) {
        snprintf(line, sizeof line, "partial: %.200s", tl->partial);
        cv_text_fit(c, (cv_slot){x, y, at.x + at.w - x}, CV_NORMAL,
                    p->colors->warn, line);
    } else if (!tl->clk_mhz) {
        cv_text(c, x, y, CV_NORMAL, p->colors->dim,
                "not a trace of vpusim: generic tracks");
    } else {
        paint_hidden(c, p, (cv_slot){x, y, at.x + at.w - x});
    }
}

static bool class_occurs(const tl_timeline *tl, int class)
{
    for (uint32_t i = 0; i < tl->n_rows; i++) {
        const tl_row *r = &tl->rows[i];

        if (!r->lanes || (r->kind != TL_ROW_SHAVE && r->kind != TL_ROW_DMA))
            continue;
        for (uint32_t k = 0; k < r->n_lanes; k++)
            if (r->lanes[k].now[class])
                return true;
    }
    return false;
}

static void paint_legend(cv_canvas *c, const paint_page *p, cv_box at)
{
    static const char *const names[TL_OTHER] = {
        [TL_ISSUE] = "issue (computing)",
        [TL_L2] = "waits for L2",
        [TL_DDR] = "waits for DDR loads",
        [TL_STORE] = "waits for DDR stores",
        [TL_DMA_SETUP] = "sets up DMA",
        [TL_DMA_WAIT] = "waits for DMA",
        [TL_DISPATCH] = "dispatch",
        [TL_IDLE] = "idle",
        [TL_IN] = "DMA in: DDR \xe2\x86\x92 CMX",
        [TL_OUT] = "DMA out: CMX \xe2\x86\x92 DDR"};
    double x = at.x, y = at.y + at.h / 2 - 2;
    int only = p->view->only;

    if (p->legend)
        memset(p->legend, 0, TL_OTHER * sizeof *p->legend);
    for (int k = 0; k < TL_OTHER; k++) {
        double from = x;

        if (!class_occurs(p->view->tl, k) &&
            !(p->under && class_occurs(p->under->tl, k)))
            continue;
        if (x + 16 + cv_text_width(c, CV_NORMAL, names[k]) > at.x + at.w)
            break;
        cv_fill_pattern(c, (cv_box){x, y - 6, 12, 12}, paint_class_color(p, k),
                        p->colors->class_pattern[k]);
        cv_frame(c, (cv_box){x, y - 6, 12, 12}, p->colors->strong_line);
        x += 17;
        x += cv_text(c, x, y, only == k + 1 ? CV_BOLD : CV_NORMAL,
                     only && only != k + 1 ? p->colors->dim : p->colors->text,
                     names[k]);
        if (p->legend)
            p->legend[k] = (paint_legend_item){from, x};
        x += 18;
    }
}

/* --- axis ---------------------------------------------------------------- */

static void paint_axis(cv_canvas *c, const paint_page *p, const paint_boxes *b)
{
    const view *v = p->view;
    double step = view_step(v, b->axis.w, 110), bottom = b->axis.y + b->axis.h;
    double t = ceil(v->from / step) * step;

    for (int i = 0; t + i * step <= v->to && i < 1000; i++) {
        double x = view_x(v, b->axis.w, t + i * step);
        char label[64];

        cv_fill(c, (cv_box){b->axis.x + x, bottom - 6, 1, 6 + b->rows.h},
                p->colors->line);
        view_time_text(v, t + i * step, step, label, sizeof label);
        if (x + cv_text_width(c, CV_SMALL, label) + 4 < b->axis.w)
            cv_text(c, b->axis.x + x + 4, bottom - 11, CV_SMALL, p->colors->dim,
                    label);
        cv_fill(c, (cv_box){b->axis.x + x, bottom - 14, 1, 10},
                p->colors->strong_line);
    }
}

/* --- rows ---------------------------------------------------------------- */

void paint_row_figure(const view *v, const tl_row *r, char *to, size_t n)
{
    uint64_t from = (uint64_t)v->from, end = (uint64_t)v->to;

    uint64_t sums[TL_N_CLASSES], busy = 0;
    double mean, high;

    end = end > v->tl->end ? v->tl->end : end;
    to[0] = 0;
    if (end <= from)
        return;
    if (r->kind == TL_ROW_SHAVE) {
        tl_sums(v->tl, &r->lanes[1], from, end, sums);
        snprintf(to, n, "%.0f %%",
                 100.0 * (double)sums[TL_ISSUE] / (double)(end - from));
    } else if (r->kind == TL_ROW_LOCAL) {
        paint_number(to, n, (double)v->facts.row_bytes[r - v->tl->rows] / 1024);
        snprintf(to + strlen(to), n - strlen(to), " KiB");
    } else if (r->kind == TL_ROW_DMA) {
        tl_sums(v->tl, &r->lanes[0], from, end, sums);
        for (int c = 0; c < TL_N_CLASSES; c++)
            busy += sums[c];
        snprintf(to, n, "%.0f %%", 100.0 * (double)busy / (double)(end - from));
    } else if (r->kind == TL_ROW_COUNTER) {
        tl_mean(r->counter, from, end, &mean, &high);
        paint_number(to, n, mean);
    } else if (r->kind == TL_ROW_HEAT) {
        snprintf(to, n, "%.0f %%", 100 * paint_heat_mean(v, r, from, end));
    }
}

static void paint_label(cv_canvas *c, const paint_page *p, const tl_row *r,
                        const view_row *at, cv_box box)
{
    const char *name = r->name, *local;
    char figure[32], high[48];
    double y = box.y + box.h / 2, room = box.w - 8;

    if (!paint_row_delta(p, r, figure, sizeof figure))
        paint_row_figure(p->view, r, figure, sizeof figure);
    if (r->kind == TL_ROW_HEAT) {
        paint_heat_label(c, p, at, box, figure);
        return;
    }
    if (figure[0] && box.h >= 10) {
        cv_text_right(c, box.x + box.w - 8, y, CV_SMALL, p->colors->dim,
                      figure);
        room -= cv_text_width(c, CV_SMALL, figure) + 6;
    }
    if (r->kind == TL_ROW_COUNTER && box.h > 30) {
        paint_number(high, sizeof high - 8, r->counter->max);
        cv_text_fit(c, (cv_slot){box.x, y - 7, room}, CV_NORMAL,
                    p->colors->text, r->name);
        strcat(high, " peak");
        cv_text(c, box.x, y + 8, CV_SMALL, p->colors->dim, high);
        return;
    }
    if (box.h < 7) /* of a map of memory: too thin for a name */
        return;
    if (r->kind == TL_ROW_LOCAL && (local = strstr(r->name, " local"))) {
        snprintf(high, sizeof high, "S%u%.20s", r->index, local);
        name = high; /* "SHAVE 0 local 1" has no room */
    }
    if (r->kind == TL_ROW_BUNDLES) {
        snprintf(high, sizeof high, "S%u bundles", r->index);
        name = high;
    }
    cv_text_fit(c, (cv_slot){box.x, y, room}, box.h < 12 ? CV_SMALL : CV_NORMAL,
                p->colors->text, name);
    if (at->pinned)
        cv_fill(c, (cv_box){box.x - 6, box.y, 2, box.h}, p->colors->accent);
}

static void mark_slice(cv_canvas *c, const paint_page *p, const view_row *row,
                       const view_slice *s, cv_box at, cv_color color)
{
    const tl_lane *l = view_lane_of(p->view, s);
    double x0 = view_x(p->view, at.w, (double)tl_begin(l, s->slice));
    double x1 = view_x(p->view, at.w, (double)tl_end(l, s->slice));
    double y, h;

    if (row->row != s->row || x1 < 0 || x0 > at.w)
        return;
    x0 = fmax(x0, -3);
    x1 = fmin(x1, at.w + 3);
    view_lane_place(p->view, row, s->lane, &y, &h);
    cv_frame(c,
             (cv_box){at.x + x0 - 1, at.y + y - 1, fmax(x1 - x0, 1) + 2, h + 2},
             color);
}

/* Stages and the path are on it; counters belong to nobody. */
static bool dims(const tl_row *r)
{
    return r->kind == TL_ROW_SHAVE || r->kind == TL_ROW_LOCAL ||
           r->kind == TL_ROW_DMA;
}

void paint_row(cv_canvas *c, const paint_page *p, const view_row *row,
               cv_box at)
{
    const tl_row *r = &p->view->tl->rows[row->row];

    if (r->kind == TL_ROW_COUNTER) {
        paint_counter(c, p, r, at);
        return;
    }
    if (r->kind == TL_ROW_HEAT) {
        paint_heat(c, p, row, at);
        return;
    }
    for (uint32_t k = 0; k < r->n_lanes; k++) {
        cv_box lane = at;
        double y, h;

        if (tl_has_causes(r) && row->folded && !k && r->n_lanes > 1)
            continue;
        view_lane_place(p->view, row, k, &y, &h);
        lane.y += y;
        lane.h = h;
        paint_lane(c, p, r, &r->lanes[k], tl_has_causes(r) && !k, lane);
    }
    if (p->view->path_only && dims(r))
        paint_off_path(c, p, row, at);
    if (p->view->has_selection)
        mark_slice(c, p, row, &p->view->selection, at, p->colors->select);
    if (p->has_hover)
        mark_slice(c, p, row, &p->hover, at, p->colors->accent);
}

/* Where an arrow at that time touches a slice. */
static bool slice_point(const paint_page *p, const view_slice *s,
                        const paint_boxes *b, uint64_t t, double *x, double *y)
{
    for (uint32_t i = 0; i < p->view->n_rows; i++) {
        const view_row *r = &p->view->rows[i];
        double lane_y, h;

        if (r->row != s->row || r->h <= 0)
            continue;
        view_lane_place(p->view, r, s->lane, &lane_y, &h);
        *x = b->rows.x + view_x(p->view, b->rows.w, (double)t);
        *y = b->rows.y + r->y - p->view->scroll + lane_y + h / 2;
        return true;
    }
    return false;
}

static void paint_head(cv_canvas *c, double x, double y, double dx, double dy,
                       cv_color color)
{
    double n = hypot(dx, dy);

    if (n < 1)
        return;
    dx *= 6 / n;
    dy *= 6 / n;
    cv_line(c, x, y, x - dx - dy / 2, y - dy + dx / 2, color);
    cv_line(c, x, y, x - dx + dy / 2, y - dy - dx / 2, color);
}

/* Inside a row above it, else straight across. */
static void paint_link(cv_canvas *c, const paint_page *p, const paint_boxes *b,
                       const links_link *l)
{
    cv_color color = p->colors->select;
    double x0, y0, x1, y1;

    if (!slice_point(p, &l->from, b, l->leaves, &x0, &y0) ||
        !slice_point(p, &l->to, b, l->arrives, &x1, &y1))
        return;
    if (l->from.row == l->to.row) {
        cv_line(c, x0, y0, x0, y0 - 8, color);
        cv_line(c, x0, y0 - 8, x1, y1 - 8, color);
        cv_line(c, x1, y1 - 8, x1, y1 - 1, color);
        paint_head(c, x1, y1 - 1, 0, 1, color);
    } else {
        cv_line(c, x0, y0, x1, y1, color);
        paint_head(c, x1, y1, x1 - x0, y1 - y0, color);
    }
}

/* What the selection waited for, and what waited for it. */
static void paint_links(cv_canvas *c, const paint_page *p, const paint_boxes *b)
{
    links_link links[LINKS_MAX];
    size_t n = p->view->has_selection
                   ? links_of(p->view, &p->view->selection, links)
                   : 0;

    for (size_t i = 0; i < n; i++)
        paint_link(c, p, b, &links[i]);
}

/* Rows that are not of the marked area are dimmed in its time. */
static void paint_area(cv_canvas *c, const paint_page *p, const paint_boxes *b,
                       double x0, double x1)
{
    const view *v = p->view;
    cv_color veil = (p->colors->page & 0xffffff) | 0xb0000000;

    for (uint32_t i = 0; i < v->n_rows; i++) {
        const view_row *row = &v->rows[i];
        cv_box at = {b->rows.x + x0, b->rows.y + row->y - v->scroll, x1 - x0,
                     row->h};

        if (row->h > 0 && !v->area[row->row])
            cv_fill(c, at, veil);
    }
}

static void paint_range(cv_canvas *c, const paint_page *p, const paint_boxes *b)
{
    double x0 =
        fmax(0, view_x(p->view, b->rows.w, (double)p->view->range_from));
    double x1 =
        fmin(b->rows.w, view_x(p->view, b->rows.w, (double)p->view->range_to));
    double top = b->axis.y + b->axis.h - 6;
    char label[64];

    if (!p->view->has_range || x1 <= 0 || x0 >= b->rows.w)
        return;
    if (p->view->has_area)
        paint_area(c, p, b, x0, x1);
    cv_fill(c, (cv_box){b->rows.x + x0, top, x1 - x0, b->rows.h + 6},
            p->colors->shade);
    cv_fill(c, (cv_box){b->rows.x + x0, top, 1, b->rows.h + 6},
            p->colors->accent);
    cv_fill(c, (cv_box){b->rows.x + x1 - 1, top, 1, b->rows.h + 6},
            p->colors->accent);
    view_time_text(p->view, (double)(p->view->range_to - p->view->range_from),
                   0, label, sizeof label);
    cv_fill(c, (cv_box){b->rows.x + x0, b->axis.y, fmax(x1 - x0, 1), 12},
            p->colors->accent);
    if (cv_text_width(c, CV_SMALL, label) + 6 < x1 - x0)
        cv_text(c,
                b->rows.x + (x0 + x1) / 2 -
                    cv_text_width(c, CV_SMALL, label) / 2,
                b->axis.y + 6, CV_SMALL, theme_on(p->colors->accent), label);
}

/* Of two compared traces the shorter one's end. */
static void paint_end(cv_canvas *c, const paint_page *p, const paint_boxes *b)
{
    const view *v = p->view;
    double x = view_x(v, b->rows.w, (double)v->tl->end);
    char time[64], text[80];

    if (v->extent <= v->tl->end || x < 0 || x >= b->rows.w)
        return;
    view_time_text(v, (double)v->tl->end, 0, time, sizeof time);
    snprintf(text, sizeof text, "done after %s", time);
    cv_fill(c, (cv_box){b->rows.x + x, b->rows.y, 1, b->rows.h},
            p->colors->strong_line);
    cv_text_fit(
        c, (cv_slot){b->rows.x + x + 10, b->rows.y + 12, b->rows.w - x - 10},
        CV_BOLD, p->colors->text, text);
}

static void paint_rows(cv_canvas *c, const paint_page *p, const paint_boxes *b)
{
    const view *v = p->view;
    double end = view_x(v, b->rows.w, (double)v->tl->end);

    for (uint32_t i = 0; i < v->n_rows; i++) {
        const view_row *row = &v->rows[i];
        cv_box at = {b->rows.x, b->rows.y + row->y - v->scroll, b->rows.w,
                     row->h};
        cv_box label = {b->labels.x, at.y, b->labels.w, at.h};

        if (row->h <= 0 || at.y + at.h < b->rows.y ||
            at.y > b->rows.y + b->rows.h)
            continue;
        cv_clip(c, (cv_box){b->labels.x - 8, b->rows.y, b->labels.w + 8,
                            b->rows.h});
        paint_label(c, p, &v->tl->rows[row->row], row, label);
        cv_clip(c, b->rows);
        cv_fill(c, (cv_box){at.x, at.y, fmin(at.w, fmax(0, end)), at.h},
                p->colors->class_color[TL_IDLE]);
        if (p->under)
            paint_under(c, p, row, at);
        else
            paint_row(c, p, row, at);
    }
    cv_clip(c,
            (cv_box){b->rows.x, b->axis.y, b->rows.w, b->rows.h + b->axis.h});
    paint_end(c, p, b);
    paint_badges(c, p, b);
    paint_advice_mark(c, p, b);
    paint_range(c, p, b);
    paint_links(c, p, b);
    cv_unclip(c);
    if (b->bar.h > 0) {
        cv_fill(c, b->bar, p->colors->row_alternate);
        cv_fill(c, b->thumb, p->colors->strong_line);
    }
}

void paint(cv_canvas *c, const paint_page *p)
{
    paint_boxes b;

    paint_layout(p, &b);
    cv_fill(c, p->area, p->colors->page);
    paint_title(c, p, b.title);
    paint_legend(c, p, b.legend);
    paint_axis(c, p, &b);
    if (b.difference.h > 0)
        paint_difference(c, p, &b);
    paint_rows(c, p, &b);
    if (b.minimap.h > 0)
        paint_minimap(c, p, b.minimap);
    if (b.panel.w > 0)
        panel_of(p)->paint(c, p, b.panel);
    if (p->status) {
        cv_fill(c, b.status, p->colors->panel);
        cv_text_fit(c,
                    (cv_slot){b.status.x + MARGIN, b.status.y + b.status.h / 2,
                              b.status.w - 2 * MARGIN},
                    CV_NORMAL, p->colors->dim, p->status);
    }
    paint_tooltip(c, p);
}
