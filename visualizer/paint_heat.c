/* A heat map: a lane for each bank of DDR, or SHAVE, whose colour is a share of
 * one; and what one place of it says. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/paint.h"

enum { STEPS = 64 }; /* colours told apart, so that runs are found */

/* Where lane i begins, from the top of a row that high: on a device pixel. */
static double lane_edge(const cv_canvas *c, const tl_row *r, double h,
                        uint32_t i)
{
    return floor(h * i / r->n_heat * c->scale + 0.5) / c->scale;
}

static double highest(const tl_timeline *tl, const tl_row *r)
{
    double top = 0;

    for (uint32_t i = 0; i < r->n_heat; i++)
        top = fmax(top, tl->rows[r->heat[i]].counter->max);
    return top;
}

double paint_heat_top(const tl_timeline *tl, const tl_timeline *beside,
                      const tl_row *r)
{
    static const double tops[] = {0.05, 0.1, 0.2, 0.5, 1};
    double most = highest(tl, r);
    size_t k = 0;

    for (uint32_t i = 0; beside && i < beside->n_rows; i++)
        if (beside->rows[i].n_heat && !strcmp(beside->rows[i].name, r->name))
            most = fmax(most, highest(beside, &beside->rows[i]));
    while (k + 1 < sizeof tops / sizeof *tops && tops[k] < most)
        k++;
    return tops[k];
}

static double top_of(const paint_page *p, const tl_row *r)
{
    return paint_heat_top(p->view->tl, p->beside, r);
}

typedef struct {
    cv_canvas *c;
    const paint_page *p;
    cv_box at; /* of the lane */
    int step, from;
} run;

static void flush(run *k, int column)
{
    double unit = 1 / k->c->scale;

    if (k->step > 0 && column > k->from)
        cv_fill(k->c,
                (cv_box){k->at.x + k->from * unit, k->at.y,
                         (column - k->from) * unit, k->at.h},
                theme_heat(k->p->colors, (double)k->step / STEPS));
    k->from = column;
}

static void paint_heat_lane(cv_canvas *c, const paint_page *p,
                            const tl_counter *value, double top, cv_box at)
{
    const view *v = p->view;
    double end = fmin(v->to, (double)v->tl->end);
    int n = (int)floor(at.w * c->scale);
    int seen = (int)ceil(fmin(view_x(v, at.w, end), at.w) * c->scale);
    double per = (v->to - v->from) / fmax(n, 1), mean, high;
    run k = {c, p, at, 0, 0};

    for (int i = 0; i < seen && i < n; i++) {
        uint64_t t0 = (uint64_t)fmax(v->from + i * per, 0);
        uint64_t t1 = (uint64_t)fmax(v->from + (i + 1) * per, 0);
        int step;

        tl_mean(value, t0, t1 > t0 ? t1 : t0 + 1, &mean, &high);
        /* The least that is not nothing is seen. */
        step = mean > 0 ? (int)ceil(fmin(mean / top, 1) * STEPS) : 0;
        if (step != k.step)
            flush(&k, i);
        k.step = step;
    }
    flush(&k, seen < n ? seen : n);
}

void paint_heat(cv_canvas *c, const paint_page *p, const view_row *row,
                cv_box at)
{
    const view *v = p->view;
    const tl_row *r = &v->tl->rows[row->row];
    double top = top_of(p, r);

    for (uint32_t i = 0; i < r->n_heat; i++) {
        double y = lane_edge(c, r, at.h, i), end = lane_edge(c, r, at.h, i + 1);

        paint_heat_lane(c, p, v->tl->rows[r->heat[i]].counter, top,
                        (cv_box){at.x, at.y + y, at.w, end - y});
    }
    if (v->has_point && v->point.row == row->row) {
        double y = lane_edge(c, r, at.h, v->point.lane);
        double h = lane_edge(c, r, at.h, v->point.lane + 1) - y;
        double x0 = view_x(v, at.w, (double)v->point.from);
        double x1 = view_x(v, at.w, (double)v->point.to);

        if (x1 < 0 || x0 > at.w)
            return;
        x0 = fmax(x0, -3);
        x1 = fmin(x1, at.w + 3);
        cv_frame(
            c,
            (cv_box){at.x + x0 - 1, at.y + y - 1, fmax(x1 - x0, 1) + 2, h + 2},
            p->colors->select);
    }
}

static void paint_ramp(cv_canvas *c, const paint_page *p, cv_box at)
{
    double zero =
        cv_text(c, at.x, at.y + at.h / 2, CV_SMALL, p->colors->dim, "0") + 4;
    double x = at.x + zero, w = (at.w - zero) / STEPS;

    for (int i = 0; i < STEPS && w > 0; i++)
        cv_fill(c, (cv_box){x + i * w, at.y, w + 1 / c->scale, at.h},
                theme_heat(p->colors, (i + 1.0) / STEPS));
    if (w > 0)
        cv_frame(c, (cv_box){x, at.y, STEPS * w, at.h}, p->colors->strong_line);
}

void paint_heat_scale(cv_canvas *c, const paint_page *p, const tl_row *r,
                      cv_box at)
{
    double right = at.x + at.w, y = at.y + at.h / 2, end;
    char most[32];

    snprintf(most, sizeof most, "%.0f %%", 100 * top_of(p, r));
    end = right - cv_text_width(c, CV_SMALL, most);
    cv_text_right(c, right, y, CV_SMALL, p->colors->dim, most);
    paint_ramp(c, p, (cv_box){at.x, at.y, end - 4 - at.x, at.h});
}
/* The number behind a lane's name. */
static const char *lane_number(const view *v, const tl_row *r, uint32_t lane)
{
    const char *name = v->tl->rows[r->heat[lane]].name;
    const char *space = strrchr(name, ' ');

    return space ? space + 1 : name;
}

void paint_heat_label(cv_canvas *c, const paint_page *p, const view_row *row,
                      cv_box at, const char *figure)
{
    enum { ROOM_FOR_SCALE = 30, ROOM_FOR_LANES = 40 };
    const tl_row *r = &p->view->tl->rows[row->row];
    bool low = at.h < ROOM_FOR_SCALE;
    double y = at.y + at.h / 2 - (low ? 0 : 7), room = at.w - 8;

    cv_text_right(c, at.x + at.w - 8, y, CV_SMALL, p->colors->dim, figure);
    room -= cv_text_width(c, CV_SMALL, figure) + 6;
    cv_text_fit(c, (cv_slot){at.x, y, room}, at.h < 12 ? CV_SMALL : CV_NORMAL,
                p->colors->text, r->name);
    if (!low)
        paint_heat_scale(c, p, r, (cv_box){at.x, y + 11, at.w - 36, 8});
    if (at.h >= ROOM_FOR_LANES) {
        cv_text_right(c, at.x + at.w - 8, at.y + 6, CV_SMALL, p->colors->dim,
                      lane_number(p->view, r, 0));
        cv_text_right(c, at.x + at.w - 8, at.y + at.h - 6, CV_SMALL,
                      p->colors->dim, lane_number(p->view, r, r->n_heat - 1));
    }
}

double paint_heat_mean(const view *v, const tl_row *r, uint64_t from,
                       uint64_t to)
{
    double sum = 0, mean, high;

    for (uint32_t i = 0; i < r->n_heat; i++) {
        tl_mean(v->tl->rows[r->heat[i]].counter, from, to, &mean, &high);
        sum += mean;
    }
    return r->n_heat ? sum / r->n_heat : 0;
}

const char *paint_heat_word(const tl_row *r)
{
    return strcmp(r->name, "DDR banks") ? "in use" : "busy";
}

void paint_heat_point(const view *v, const view_point *at, char *to, size_t n)
{
    const tl_row *r = &v->tl->rows[at->row];
    char begin[64], length[64];

    view_time_text(v, (double)at->from, 0, begin, sizeof begin);
    view_time_text(v, (double)(at->to - at->from), 0, length, sizeof length);
    snprintf(to, n, "%.60s: %.60s, %.1f %% %s, from %s for %s", r->name,
             v->tl->rows[r->heat[at->lane]].name, 100 * at->value,
             paint_heat_word(r), begin, length);
}
