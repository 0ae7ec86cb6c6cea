/* Numbers beside the picture: a stretch's causes and figures, the selected
 * slice, the tooltip, the minimap. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/links.h"
#include "visualizer/paint.h"

enum { LINE = 18, PAD = 14 };

typedef struct {
    cv_canvas *c;
    const paint_page *p;
    double x, y, w, bottom;
} column;

static bool room_for(const column *k)
{
    return k->y + LINE <= k->bottom;
}

static void heading(column *k, const char *text)
{
    if (!room_for(k))
        return;
    k->y += 8;
    cv_text(k->c, k->x, k->y + LINE / 2.0, CV_BOLD, k->p->colors->text, text);
    k->y += LINE + 2;
}

static void line(column *k, const char *key, const char *value)
{
    double w = cv_text_width(k->c, CV_NORMAL, value);

    if (!room_for(k))
        return;
    if (w > k->w * 0.75)
        w = k->w * 0.75;
    cv_text_fit(k->c, (cv_slot){k->x, k->y + LINE / 2.0, k->w - w - 8},
                CV_NORMAL, k->p->colors->dim, key);
    cv_text_fit(k->c, (cv_slot){k->x + k->w - w, k->y + LINE / 2.0, w + 1},
                CV_NORMAL, k->p->colors->text, value);
    k->y += LINE;
}

static void line_time(column *k, const char *key, double ticks)
{
    char text[64];

    view_time_text(k->p->view, ticks, 0, text, sizeof text);
    line(k, key, text);
}

/* Causes from the longest down, as bars, with what each waits for. */
static void causes(column *k, const uint64_t *cause, uint64_t all)
{
    bool done[TL_N_CAUSES] = {0};

    for (int n = 0; n < TL_N_CAUSES; n++) {
        int best = -1;
        char text[64];
        double share, bar = k->w - 48;

        for (int c = 0; c < TL_N_CAUSES; c++)
            if (!done[c] && cause[c] && (best < 0 || cause[c] > cause[best]))
                best = c;
        if (best < 0 || !room_for(k) || !all)
            return;
        done[best] = true;
        share = (double)cause[best] / (double)all;
        cv_text(k->c, k->x, k->y + 8, CV_NORMAL, k->p->colors->text,
                tl_class_name((tl_class)best));
        cv_text(
            k->c,
            k->x + 8 +
                cv_text_width(k->c, CV_NORMAL, tl_class_name((tl_class)best)),
            k->y + 8, CV_SMALL, k->p->colors->dim,
            stats_resource((tl_class)best));
        snprintf(text, sizeof text, share < 0.0995 ? "%.1f %%" : "%.0f %%",
                 share * 100);
        cv_text_right(k->c, k->x + k->w, k->y + 18, CV_NORMAL,
                      k->p->colors->text, text);
        cv_fill(k->c, (cv_box){k->x, k->y + 17, bar, 7}, k->p->colors->line);
        cv_fill_pattern(
            k->c, (cv_box){k->x, k->y + 17, fmax(bar * share, 1), 7},
            k->p->colors->class_color[best], k->p->colors->class_pattern[best]);
        k->y += 30;
    }
}

void paint_cause_bars(cv_canvas *c, const paint_page *p, cv_box at,
                      const uint64_t *cause, uint64_t all)
{
    column k = {c, p, at.x, at.y, at.w, at.y + at.h};

    causes(&k, cause, all);
}

static void rate_line(column *k, const char *key, double bytes_per_tick)
{
    char number[32], text[96];
    double mhz = k->p->view->tl->clk_mhz ? k->p->view->tl->clk_mhz : 1000;

    paint_number(number, sizeof number, bytes_per_tick * mhz / 1000);
    snprintf(text, sizeof text, "%s GB/s", number);
    line(k, key, text);
}

static void percent_line(column *k, const char *key, double part, double all)
{
    char text[32];

    snprintf(text, sizeof text, "%.1f %%", all > 0 ? 100 * part / all : 0);
    line(k, key, text);
}

static void figures(column *k, const stats *s)
{
    double span = (double)(s->to - s->from);

    if (s->has_ddr) {
        rate_line(k, "DDR traffic, mean", s->ddr_mean);
        rate_line(k, "DDR traffic, peak", s->ddr_peak);
    }
    if (s->n_channels) {
        percent_line(k, "DMA channels busy", (double)s->dma_busy,
                     span * s->n_channels);
        if (s->has_overlap)
            percent_line(k, "DMA time with computing", (double)s->overlapped,
                         (double)s->transferring);
    }
    if (s->n_shaves)
        percent_line(k, "busiest SHAVE above mean", s->imbalance, 1);
}

static void arg_line(column *k, const tl_arg *a)
{
    const tl_timeline *tl = k->p->view->tl;
    char text[64];

    if (a->kind == TL_ARG_TEXT) {
        line(k, tl_text(tl, a->name), tl_text(tl, a->text));
        return;
    }
    if (a->kind == TL_ARG_REAL)
        snprintf(text, sizeof text, "%g", a->real);
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)a->number);
    line(k, tl_text(tl, a->name), text);
}

/* Of the group of a phase, a cause, a transfer or a part of local memory. */
static void items(column *k)
{
    const view *v = k->p->view;
    const view_slice *s = &v->selection;
    const tl_lane *l = view_lane_of(v, s);
    uint64_t group = tl_number(l, s->slice), first[3], last[3];
    str text = {0};
    view_slice phase;

    if (links_phase_at(v, s, &phase)) {
        const tl_lane *phases = &v->tl->rows[phase.row].lanes[0];

        group = tl_number(phases, phase.slice);
    } else if (!l->has_numbers || v->tl->rows[s->row].kind == TL_ROW_OTHER) {
        return;
    }
    if (group == TL_NO_NUMBER ||
        !facts_items(facts_stage_at(&v->facts, tl_begin(l, s->slice)), group,
                     first, last))
        return;
    for (int i = 0; i < 3; i++) {
        str_printf(&text, "%s%llu", i ? ", " : "",
                   (unsigned long long)first[i]);
        if (last[i] > first[i])
            str_printf(&text, "\xe2\x80\xa6%llu", (unsigned long long)last[i]);
    }
    line(k, "work-items", str_text(&text));
    str_free(&text);
}

static void slack(column *k)
{
    view_slack s;

    if (!view_slack_of(k->p->view, &k->p->view->selection, &s))
        return;
    line_time(k, "slack of the group", (double)s.slack);
    if (s.on_path)
        line(k, "on the critical path", "yes");
}

/* A transfer's rate, the group of a cause, and what the arrows are. */
static void linked(column *k)
{
    static const char *const words[2][4] = {
        [0] = {"after", "started by", "waits for", "ended by"},
        [1] = {"then", "starts", "needed by", "ends"}};
    const view *v = k->p->view;
    const view_slice *s = &v->selection;
    links_link links[LINKS_MAX];
    size_t n = links_of(v, s, links);
    double rate = links_rate(v, s);
    view_slice phase;
    char name[300], text[400], number[32];

    if (rate > 0) {
        paint_number(number, sizeof number, rate);
        snprintf(text, sizeof text, "%s GB/s", number);
        line(k, "rate", text);
    }
    if (links_phase_at(v, s, &phase)) {
        tl_slice_name(v->tl, &v->tl->rows[phase.row].lanes[0], phase.slice,
                      name, sizeof name);
        line(k, "of", name);
    }
    for (size_t i = 0; i < n; i++) {
        bool out = links[i].from.row == s->row &&
                   links[i].from.lane == s->lane &&
                   links[i].from.slice == s->slice;
        const view_slice *other = out ? &links[i].to : &links[i].from;

        if (!out && (links[i].to.row != s->row || links[i].to.lane != s->lane ||
                     links[i].to.slice != s->slice))
            break; /* of its group: arrows alone */
        tl_slice_name(v->tl, view_lane_of(v, other), other->slice, name,
                      sizeof name);
        snprintf(text, sizeof text, "%.200s, %.100s", name,
                 v->tl->rows[other->row].name);
        line(k, words[out][links[i].kind], text);
    }
}

/* Which line of the kernel most of this phase's cycles, or of this cause's,
 * belong to: of all groups of the stage, a profile knows no single ones. */
static void hottest_line(column *k)
{
    paint_focus at = paint_focus_of(k->p->view);
    char text[200];

    if (!at.has_line)
        return;
    if (at.line.total)
        snprintf(text, sizeof text, "%.100s:%u  (%.0f %%)", at.line.file,
                 at.line.line, at.share * 100);
    else
        snprintf(text, sizeof text, "%.100s:%u", at.line.file, at.line.line);
    line(k, at.line.total ? "hottest line" : "source", text);
    if (!room_for(k))
        return;
    cv_text_fit(
        k->c, (cv_slot){k->x, k->y + LINE / 2.0, k->w}, CV_SMALL,
        k->p->colors->dim,
        paint_trim(facts_text(&k->p->view->facts, at.line.file, at.line.line)));
    k->y += LINE;
}

/* The same group or stage in the other trace. */
static void compared(column *k)
{
    const paint_page *p = k->p;
    const compare_row *r =
        p->cmp ? compare_of_slice(p->cmp, p->side, &p->view->selection) : NULL;
    char badge[32], text[96], number[48];

    if (!r)
        return;
    compare_badge(r, badge, sizeof badge);
    if (!r->in[0] || !r->in[1]) {
        line(k, "in the other trace", "not there");
        return;
    }
    paint_number(number, sizeof number, r->time[!p->side]);
    snprintf(text, sizeof text, "%s %s", number, p->cmp->unit);
    line(k, p->side ? "in A" : "in B", text);
    line(k, "from A to B", badge);
}

/* What the local memory of a group is made of: the stage says. */
static void buffers(column *k)
{
    static const char *const known[] = {
        "kernel",       "groups",       "SHAVEs",     "local bytes",
        "local budget", "DDR capacity", "group size", "grid"};
    const view *v = k->p->view;
    const view_slice *s = &v->selection;
    const facts_stage *stage =
        facts_stage_at(&v->facts, tl_begin(view_lane_of(v, s), s->slice));
    tl_arg a[TL_SLICE_ARGS];
    size_t n = 0;

    if (v->tl->rows[s->row].kind != TL_ROW_LOCAL || stage->row == UINT32_MAX)
        return;
    n = tl_slice_args(v->tl, &v->tl->rows[stage->row].lanes[0], stage->slice, a,
                      TL_SLICE_ARGS);
    heading(k, "Local memory of the stage, by buffer");
    for (size_t i = 0; i < n; i++) {
        bool told = false;

        for (size_t j = 0; j < sizeof known / sizeof *known; j++)
            told |= !strcmp(tl_text(v->tl, a[i].name), known[j]);
        if (!told)
            arg_line(k, &a[i]);
    }
}

static void selection(column *k)
{
    const view *v = k->p->view;
    const view_slice *s = &v->selection;
    const tl_row *r = &v->tl->rows[s->row];
    const tl_lane *l = &r->lanes[s->lane];
    uint64_t begin = tl_begin(l, s->slice), length = tl_length(l, s->slice);
    tl_arg args[TL_SLICE_ARGS];
    size_t n = tl_slice_args(v->tl, l, s->slice, args, TL_SLICE_ARGS);
    char name[300];

    tl_slice_name(v->tl, l, s->slice, name, sizeof name);
    heading(k, name);
    line(k, "on", r->name);
    line_time(k, "begins", (double)begin);
    line_time(k, "takes", (double)length);
    for (size_t i = 0; i < n; i++)
        if (tl_class_of(v->tl, args[i].name) >= TL_N_CAUSES ||
            r->kind == TL_ROW_BUNDLES)
            arg_line(k, &args[i]);
    items(k);
    slack(k);
    linked(k);
    hottest_line(k);
    buffers(k);
    compared(k);
    if (tl_has_causes(r) && !s->lane && r->n_lanes > 1 && length) {
        uint64_t sums[TL_N_CLASSES];

        tl_sums(v->tl, &r->lanes[1], begin, begin + length, sums);
        k->y += 6;
        causes(k, sums, length);
    }
}

/* Of a heat map. */
static void point(column *k)
{
    const view *v = k->p->view;
    const view_point *at = &v->point;
    const tl_row *r = &v->tl->rows[at->row];
    char text[32];

    snprintf(text, sizeof text, "%.1f %%", 100 * at->value);
    heading(k, v->tl->rows[r->heat[at->lane]].name);
    line(k, "on", r->name);
    line(k, paint_heat_word(r), text);
    line_time(k, "from", (double)at->from);
    line_time(k, "for", (double)(at->to - at->from));
    if (room_for(k))
        paint_heat_scale(k->c, k->p, r, (cv_box){k->x, k->y + 4, k->w, 8});
    k->y += LINE;
}

void paint_figures(cv_canvas *c, const paint_page *p, cv_box at)
{
    const view *v = p->view;
    column k = {c, p, at.x + PAD, at.y, at.w - 2 * PAD, at.y + at.h - 6};
    uint32_t rows = view_area_rows(v);
    char area[64];
    stats s;

    cv_fill(c, at, p->colors->panel);
    cv_fill(c, (cv_box){at.x, at.y, 1, at.h}, p->colors->line);
    cv_clip(c, at);
    if (v->has_selection)
        selection(&k);
    else if (v->has_point)
        point(&k);
    if (v->has_range)
        stats_of_rows(v->tl, v->has_area ? v->area : NULL, v->range_from,
                      v->range_to, &s);
    else
        stats_of(v->tl, (uint64_t)v->from,
                 (uint64_t)fmin(ceil(v->to), (double)v->tl->end), &s);
    snprintf(area, sizeof area, "Marked area: %u row%s", rows,
             rows == 1 ? "" : "s");
    heading(&k, rows                                   ? area
                : v->has_range                         ? "Marked range"
                : v->to - v->from >= (double)v->extent ? "Whole trace"
                                                       : "Visible range");
    line_time(&k, "takes", (double)(s.to - s.from));
    figures(&k, &s);
    if (s.n_shaves) {
        char text[64];

        snprintf(text, sizeof text, "%u SHAVEs: where time goes", s.n_shaves);
        heading(&k, text);
        causes(&k, s.cause, (s.to - s.from) * s.n_shaves);
        if (s.uncovered) /* other levels than full leave waits out */
            percent_line(&k, "not recorded", (double)s.uncovered,
                         (double)(s.to - s.from) * s.n_shaves);
    }
    cv_unclip(c);
}

void paint_tooltip(cv_canvas *c, const paint_page *p)
{
    const tl_row *r;
    const tl_lane *l;
    char name[300], length[64], text[420];
    double w, x = p->hover_x + 14, y = p->hover_y + 18;

    if (!p->has_hover)
        return;
    r = &p->view->tl->rows[p->hover.row];
    l = &r->lanes[p->hover.lane];
    tl_slice_name(p->view->tl, l, p->hover.slice, name, sizeof name);
    view_time_text(p->view, (double)tl_length(l, p->hover.slice), 0, length,
                   sizeof length);
    snprintf(text, sizeof text, "%s   %s", name, length);
    w = cv_text_width(c, CV_NORMAL, text) + 16;
    if (x + w > p->area.x + p->area.w)
        x = p->area.x + p->area.w - w;
    if (y + 24 > p->area.y + p->area.h)
        y = p->hover_y - 30;
    cv_fill(c, (cv_box){x, y, w, 24}, p->colors->text);
    cv_text(c, x + 8, y + 12, CV_NORMAL, p->colors->page, text);
}

enum { MAP_COLUMNS = 2048 };

/* Adds a lane's busy and issuing ticks to the columns. */
static void add_to_map(const tl_timeline *tl, const tl_row *r, int n,
                       double all, uint64_t busy[], uint64_t issue[])
{
    const tl_lane *l = &r->lanes[r->kind == TL_ROW_SHAVE];
    uint64_t last[TL_N_CLASSES] = {0}, sums[TL_N_CLASSES];
    tl_cursor at = {0};

    for (int i = 0; i < n; i++) {
        tl_walk_near(tl, l, &at, (uint64_t)(all * (i + 1) / n),
                     (uint64_t)(all / n / 4), sums);
        for (int c = 0; c < TL_N_CLASSES; c++)
            busy[i] += c == TL_IDLE ? 0 : sums[c] - last[c];
        issue[i] += tl->clk_mhz ? sums[TL_ISSUE] - last[TL_ISSUE] : 0;
        memcpy(last, sums, sizeof last);
    }
}

/* Computing over all SHAVEs through the whole trace, and where the view is. */
void paint_minimap(cv_canvas *c, const paint_page *p, cv_box at)
{
    const view *v = p->view;
    const tl_timeline *tl = v->tl;
    uint64_t busy[MAP_COLUMNS] = {0}, issue[MAP_COLUMNS] = {0}, lanes = 0;
    int n = (int)fmin(at.w / 2, MAP_COLUMNS);
    double all = fmax((double)v->extent, 1), w = at.w / n;
    double x0 = at.x + v->from / all * at.w, x1 = at.x + v->to / all * at.w;

    for (uint32_t k = 0; k < tl->n_rows; k++)
        if (tl->rows[k].lanes &&
            (tl->rows[k].kind == TL_ROW_SHAVE || !tl->clk_mhz)) {
            add_to_map(tl, &tl->rows[k], n, all, busy, issue);
            lanes++;
        }
    cv_fill(c, at, p->colors->class_color[TL_IDLE]);
    for (int i = 0; i < n && lanes; i++) {
        double scale = at.h / ((double)lanes * fmax(all / n, 1));
        double hb = fmin((double)busy[i] * scale, at.h);
        double hi = fmin((double)issue[i] * scale, at.h);

        cv_fill(c, (cv_box){at.x + w * i, at.y + at.h - hb, w, hb},
                p->colors->area_light);
        cv_fill(c, (cv_box){at.x + w * i, at.y + at.h - hi, w, hi},
                p->colors->class_color[TL_ISSUE]);
    }
    cv_fill(c, (cv_box){at.x, at.y, x0 - at.x, at.h}, p->colors->shade);
    cv_fill(c, (cv_box){x1, at.y, at.x + at.w - x1, at.h}, p->colors->shade);
    cv_frame(c, (cv_box){x0, at.y - 2, fmax(x1 - x0, 2), at.h + 4},
             p->colors->accent);
}
