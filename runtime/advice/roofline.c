/* See roofline.h. */
#include "runtime/advice/roofline.h"

#include <math.h>
#include <stdio.h>

#include "visualizer/drawing.h"
#include "visualizer/theme.h"

enum {
    WIDTH = 860,
    HEIGHT = 520,
    LEFT = 80,
    RIGHT = 250,
    TOP = 56,
    BOTTOM = 60,
    MOST_POINTS = 24 /* with a name; more are points alone */
};

typedef struct {
    const char *name;
    double x, y; /* operations a byte, a cycle */
} point;

typedef struct {
    const graph *g;
    const mach_desc *desc;
    point *points;
    uint32_t n, n_shaves;
    double x0, x1, y0, y1; /* powers of ten */
} roofline;

/* --- what is shown -------------------------------------------------------- */

static double bytes_per_cycle(const mach_desc *d, double gb)
{
    return gb * 1e3 / (double)d->clk_mhz;
}

static void add_point(roofline *r, const graph_launch *l,
                      const backend_launch *run)
{
    const mach_profile *p = &run->exec.profile;
    double issued =
        (double)mach_profile_sum(p, run->n_shaves, MACH_CAUSE_ISSUE);

    if (!run->kernel || !p->cycles)
        return;
    if (issued <= 0)
        return;
    if (run->n_shaves > r->n_shaves)
        r->n_shaves = run->n_shaves;
    r->points[r->n++] =
        (point){l->name, issued / (double)(p->ddr_bytes ? p->ddr_bytes : 1),
                issued / (double)p->cycles};
}

/* Whole powers of ten around the points, the ridge and the roof. */
static void find_range(roofline *r)
{
    double roof = r->n_shaves ? r->n_shaves : 1;
    double ridge = roof / bytes_per_cycle(r->desc, r->desc->ddr_eff_bw);
    double x0 = ridge, x1 = ridge, y0 = roof;

    for (uint32_t i = 0; i < r->n; i++) {
        x0 = fmin(x0, r->points[i].x);
        x1 = fmax(x1, r->points[i].x);
        y0 = fmin(y0, r->points[i].y);
    }
    r->x0 = floor(log10(x0) - 0.1);
    r->x1 = ceil(log10(x1) + 0.1);
    r->y0 = floor(log10(y0) - 0.1);
    r->y1 = ceil(log10(roof) + 0.1);
}

/* --- drawing -------------------------------------------------------------- */

static double at_x(const roofline *r, double log_x)
{
    return LEFT + (log_x - r->x0) / (r->x1 - r->x0) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const roofline *r, double log_y)
{
    return HEIGHT - BOTTOM -
           (log_y - r->y0) / (r->y1 - r->y0) * (HEIGHT - TOP - BOTTOM);
}

static void draw_axes(const roofline *r, cv_canvas *to)
{
    char text[32];

    for (double x = r->x0; x <= r->x1; x++) {
        cv_line(to, at_x(r, x), TOP, at_x(r, x), HEIGHT - BOTTOM,
                theme_light.line);
        snprintf(text, sizeof text, "%g", pow(10, x));
        cv_text(to, at_x(r, x) - 10, HEIGHT - BOTTOM + 14, CV_NORMAL,
                theme_light.dim, text);
    }
    for (double y = r->y0; y <= r->y1; y++) {
        cv_line(to, LEFT, at_y(r, y), WIDTH - RIGHT, at_y(r, y),
                theme_light.line);
        snprintf(text, sizeof text, "%g", pow(10, y));
        cv_text_right(to, LEFT - 8, at_y(r, y), CV_NORMAL, theme_light.dim,
                      text);
    }
    cv_text(to, LEFT, HEIGHT - 18, CV_NORMAL, theme_light.text,
            "issue cycles for each byte of DDR");
    cv_text(to, 8, TOP - 14, CV_NORMAL, theme_light.text,
            "issue cycles a cycle, all SHAVEs");
}

/* Bandwidth up to the ridge, then the SHAVEs. */
static void draw_roof(const roofline *r, cv_canvas *to, double gb,
                      cv_color color)
{
    double roof = log10(r->n_shaves ? r->n_shaves : 1);
    double bandwidth = log10(bytes_per_cycle(r->desc, gb));
    double from = fmax(r->x0, r->y0 - bandwidth), ridge = roof - bandwidth;

    for (int d = 0; d < 2; d++) { /* two pixels wide */
        if (from < ridge)
            cv_line(to, at_x(r, from), at_y(r, from + bandwidth) + d,
                    at_x(r, fmin(ridge, r->x1)),
                    at_y(r, fmin(ridge, r->x1) + bandwidth) + d, color);
        if (ridge < r->x1)
            cv_line(to, at_x(r, fmax(ridge, r->x0)), at_y(r, roof) + d,
                    at_x(r, r->x1), at_y(r, roof) + d, color);
    }
}

static void draw_points(const roofline *r, cv_canvas *to)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const point *p = &r->points[i];
        cv_color color = theme_light.class_color[i % TL_N_CLASSES];
        cv_pattern pattern = (cv_pattern)(i / TL_N_CLASSES % CV_N_PATTERNS);
        double x = at_x(r, log10(p->x)), y = at_y(r, log10(p->y));
        char text[64];

        cv_fill_pattern(to, (cv_box){x - 5, y - 5, 11, 11}, color, pattern);
        if (i >= MOST_POINTS)
            continue;
        y = TOP + 10 + i * 18.0;
        cv_fill_pattern(to, (cv_box){WIDTH - RIGHT + 16, y - 5, 11, 11}, color,
                        pattern);
        cv_text_fit(to, (cv_slot){WIDTH - RIGHT + 34, y, RIGHT - 100},
                    CV_NORMAL, theme_light.text, p->name);
        snprintf(text, sizeof text, "%.3g", p->y);
        cv_text_right(to, WIDTH - 12, y, CV_NORMAL, theme_light.dim, text);
    }
}

static void draw(const void *user, cv_canvas *to)
{
    const roofline *r = user;
    char text[256];

    cv_fill(to, (cv_box){0, 0, WIDTH, HEIGHT}, theme_light.page);
    snprintf(text, sizeof text,
             "%.100s on %u SHAVEs, DDR %.3g GB/s (streams reach %.3g)",
             r->g->layer, r->n_shaves, r->desc->ddr_peak_bw,
             r->desc->ddr_eff_bw);
    cv_text_fit(to, (cv_slot){16, 20, WIDTH - 32}, CV_TITLE, theme_light.text,
                text);
    draw_axes(r, to);
    draw_roof(r, to, r->desc->ddr_peak_bw, theme_light.strong_line);
    draw_roof(r, to, r->desc->ddr_eff_bw, theme_light.text);
    draw_points(r, to);
}

/* --- files ---------------------------------------------------------------- */

vpu_status roofline_check(const char *path, vpu_error *err)
{
    return cv_drawing_check(path, err);
}

vpu_status roofline_write(const graph *g, const backend *b,
                          const mach_desc *desc, const char *path,
                          vpu_error *err)
{
    arena *a = arena_create(0);
    roofline r = {.g = g,
                  .desc = desc,
                  .points = arena_array(a, point, g->n_launches + 1)};
    const cv_drawing d = {WIDTH, HEIGHT, draw, &r};
    vpu_status st;

    for (uint32_t i = 0; i < g->n_launches; i++)
        add_point(&r, &g->launches[i], backend_launch_of(b, i));
    find_range(&r);
    st = cv_drawing_write(&d, path, err);
    arena_destroy(a);
    return st;
}
