/* Charts on the viewer's canvas: pixels or SVG. */
#include "runtime/sweep/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/oom.h"
#include "base/str.h"
#include "visualizer/canvas.h"
#include "visualizer/drawing.h"
#include "visualizer/theme.h"

enum {
    MARGIN = 16,
    TITLE = 44,
    LABELS = 150, /* at the left */
    LEGEND = 200, /* of lines, at the right */
    CELL_W = 88,
    CELL_H = 28,
    PLOT_W = 560,
    PLOT_H = 320,
    TICKS = 5
};

typedef struct chart chart;
struct chart {
    const sweep_chart *c;
    const sweep_dimension *dx, *dy; /* dy NULL: one line */
    uint32_t nx, ny;
    double *means; /* ny rows of nx; NaN: no point */
    double low, high;
    double width, height;
    void (*draw)(const chart *p, cv_canvas *to);
    const char *path;
    arena *a;
};

static const char *objective_name(const chart *p)
{
    return sweep_figure_name(p->c->table->figures[p->c->objective]);
}

/* --- means ---------------------------------------------------------------- */

static void find_means(chart *p)
{
    const sweep_table *t = p->c->table;
    size_t n = (size_t)p->nx * p->ny;
    size_t *counts = arena_array(p->a, size_t, n);

    p->means = arena_array(p->a, double, n);
    for (size_t i = 0; i < t->n; i++) {
        const sweep_cell *cells = t->rows[i].cells;
        size_t at = (p->dy ? cells[p->c->y].level : 0) * (size_t)p->nx +
                    cells[p->c->x].level;

        if (isnan(t->rows[i].values[p->c->objective]))
            continue;
        p->means[at] += t->rows[i].values[p->c->objective];
        counts[at]++;
    }
    p->low = INFINITY;
    p->high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        p->means[i] = counts[i] ? p->means[i] / (double)counts[i] : (double)NAN;
        if (counts[i]) {
            p->low = fmin(p->low, p->means[i]);
            p->high = fmax(p->high, p->means[i]);
        }
    }
}

static void number_text(char to[32], double x)
{
    snprintf(to, 32, fabs(x) < 1e6 ? "%.6g" : "%.4g", x);
}

static void draw_title(const chart *p, cv_canvas *to, const char *kind)
{
    cv_fill(to, (cv_box){0, 0, p->width, p->height}, theme_light.page);
    cv_text_fit(to, (cv_slot){MARGIN, MARGIN + 8, p->width - 2 * MARGIN},
                CV_TITLE, theme_light.text,
                arena_printf(p->a, "%s: %s over %s%s%s", kind,
                             objective_name(p), p->dx->name,
                             p->dy ? " and " : "", p->dy ? p->dy->name : ""));
}

/* --- heat map ------------------------------------------------------------- */

/* White to dark blue, evenly in each channel. */
static cv_color shade(const chart *p, double x)
{
    double f = p->high > p->low ? (x - p->low) / (p->high - p->low) : 0;
    unsigned r = (unsigned)(247 - f * (247 - 8));
    unsigned g = (unsigned)(251 - f * (251 - 48));
    unsigned b = (unsigned)(255 - f * (255 - 107));

    return 0xff000000u | r << 16 | g << 8 | b;
}

static void draw_cell(const chart *p, cv_canvas *to, uint32_t x, uint32_t y)
{
    double v = p->means[(size_t)y * p->nx + x];
    cv_box at = {LABELS + x * (double)CELL_W,
                 TITLE + CELL_H + y * (double)CELL_H, CELL_W - 1, CELL_H - 1};
    char text[32];

    if (isnan(v)) {
        cv_fill_pattern(to, at, theme_light.row_alternate, CV_SLASH);
        return;
    }
    number_text(text, v);
    cv_fill(to, at, shade(p, v));
    cv_text_fit(to, (cv_slot){at.x + 5, at.y + at.h / 2, at.w - 8}, CV_NORMAL,
                theme_on(shade(p, v)), text);
}

static void draw_heat(const chart *p, cv_canvas *to)
{
    draw_title(p, to, "mean");
    for (uint32_t x = 0; x < p->nx; x++)
        cv_text_fit(to,
                    (cv_slot){LABELS + x * (double)CELL_W + 5,
                              TITLE + CELL_H / 2.0, CELL_W - 8},
                    CV_BOLD, theme_light.text,
                    sweep_level_text(p->dx, x, p->a));
    for (uint32_t y = 0; y < p->ny; y++) {
        cv_text_fit(to,
                    (cv_slot){MARGIN, TITLE + (y + 1.5) * (double)CELL_H,
                              LABELS - MARGIN - 6},
                    CV_BOLD, theme_light.text,
                    sweep_level_text(p->dy, y, p->a));
        for (uint32_t x = 0; x < p->nx; x++)
            draw_cell(p, to, x, y);
    }
}

/* --- lines ---------------------------------------------------------------- */

static double place_x(const chart *p, uint32_t x)
{
    return LABELS + PLOT_W * (x + 0.5) / p->nx;
}

/* 1, 2 or 5 of a power of ten, at least x. */
static double round_step(double x)
{
    double power = x > 0 ? pow(10, floor(log10(x))) : 1;

    return power * (x <= power       ? 1
                    : x <= 2 * power ? 2
                    : x <= 5 * power ? 5
                                     : 10);
}

/* The axis goes from 0 on, so that lengths compare, to a round number. */
static double axis_step(const chart *p)
{
    return round_step(p->high / TICKS);
}

static int axis_ticks(const chart *p)
{
    double n = ceil(p->high / axis_step(p));

    return n < 1 ? 1 : n > TICKS ? TICKS : (int)n;
}

static double place_y(const chart *p, double v)
{
    return TITLE + PLOT_H * (1 - v / (axis_step(p) * axis_ticks(p)));
}

/* Its middle at x, if it has room there. */
static void put_middle(cv_canvas *to, double x, double y, double room,
                       const char *text)
{
    double w = cv_text_width(to, CV_NORMAL, text);

    w = w < room ? w : room;
    cv_text_fit(to, (cv_slot){x - w / 2, y, room}, CV_NORMAL, theme_light.text,
                text);
}

static void draw_axes(const chart *p, cv_canvas *to)
{
    char text[32];

    for (int i = 0; i <= axis_ticks(p); i++) {
        double v = axis_step(p) * i;

        number_text(text, v);
        cv_line(to, LABELS, place_y(p, v), LABELS + PLOT_W, place_y(p, v),
                theme_light.line);
        cv_text_right(to, LABELS - 8, place_y(p, v), CV_NORMAL, theme_light.dim,
                      text);
    }
    for (uint32_t x = 0; x < p->nx; x++)
        put_middle(to, place_x(p, x), TITLE + PLOT_H + 14,
                   PLOT_W / (double)p->nx - 4,
                   sweep_level_text(p->dx, x, p->a));
}

/* A pixel thicker than a line, and a mark at each mean. */
static void draw_series(const chart *p, cv_canvas *to, uint32_t y)
{
    cv_color color = theme_light.class_color[y % TL_N_CLASSES];
    const double *means = p->means + (size_t)y * p->nx;
    double last_x = 0, last_y = 0;
    bool any = false;

    for (uint32_t x = 0; x < p->nx; x++) {
        double at_x = place_x(p, x), at_y = place_y(p, means[x]);

        if (isnan(means[x]))
            continue;
        for (int d = 0; d < 2 && any; d++)
            cv_line(to, last_x, last_y + d, at_x, at_y + d, color);
        cv_fill_pattern(to, (cv_box){at_x - 4, at_y - 4, 9, 9}, color,
                        (cv_pattern)(y / TL_N_CLASSES % CV_N_PATTERNS));
        last_x = at_x;
        last_y = at_y;
        any = true;
    }
    if (!p->dy)
        return;
    cv_fill(to, (cv_box){LABELS + PLOT_W + 16, TITLE + y * 20.0 + 4, 12, 12},
            color);
    cv_text_fit(
        to, (cv_slot){LABELS + PLOT_W + 34, TITLE + y * 20.0 + 10, LEGEND - 50},
        CV_NORMAL, theme_light.text, sweep_level_text(p->dy, y, p->a));
}

static void draw_lines(const chart *p, cv_canvas *to)
{
    draw_title(p, to, "mean");
    draw_axes(p, to);
    for (uint32_t y = 0; y < p->ny; y++)
        draw_series(p, to, y);
}

/* --- files ---------------------------------------------------------------- */

static vpu_status check(const chart *p, vpu_error *err)
{
    const sweep_dimension *wide = p->nx > SWEEP_MOST_CELLS   ? p->dx
                                  : p->ny > SWEEP_MOST_CELLS ? p->dy
                                                             : NULL;

    return wide ? err_set(err, VPU_ERR_INVALID,
                          "%s has %u values, more than a picture's %d: another "
                          "--x or --y",
                          wide->name, sweep_levels(wide), SWEEP_MOST_CELLS)
                : cv_drawing_check(p->path, err);
}

static void draw(const void *user, cv_canvas *to)
{
    const chart *p = user;

    p->draw(p, to);
}

static vpu_status write(void *user, vpu_error *err)
{
    chart *p = user;
    const cv_drawing d = {p->width, p->height, draw, p};
    vpu_status st = check(p, err);

    if (st)
        return st;
    find_means(p);
    return cv_drawing_write(&d, p->path, err);
}

static void end(void *user)
{
    chart *p = user;

    arena_destroy(p->a);
}

static chart begin(const sweep_chart *c, const char *path)
{
    const sweep_manifest *m = c->table->manifest;
    chart p = {.c = c,
               .dx = &m->dims[c->x],
               .dy = c->has_y ? &m->dims[c->y] : NULL,
               .path = path,
               .a = arena_create(0)};

    p.nx = sweep_levels(p.dx);
    p.ny = p.dy ? sweep_levels(p.dy) : 1;
    return p;
}

vpu_status sweep_chart_heat(const sweep_chart *c, const char *path,
                            vpu_error *err)
{
    chart p = begin(c, path);

    p.draw = draw_heat;
    p.width = LABELS + p.nx * (double)CELL_W + MARGIN;
    p.width = p.width < 480 ? 480 : p.width;
    p.height = TITLE + (p.ny + 1) * (double)CELL_H + MARGIN;
    return oom_finally(write, end, &p, err);
}

vpu_status sweep_chart_lines(const sweep_chart *c, const char *path,
                             vpu_error *err)
{
    chart p = begin(c, path);
    double legend = TITLE + p.ny * 20.0 + MARGIN;

    p.draw = draw_lines;
    p.width = LABELS + PLOT_W + (p.dy ? LEGEND : MARGIN);
    p.height = TITLE + PLOT_H + 40;
    p.height = legend > p.height ? legend : p.height;
    return oom_finally(write, end, &p, err);
}
