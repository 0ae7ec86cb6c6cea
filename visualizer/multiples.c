/* A grid of small stacks of causes. */
#include "visualizer/multiples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/drawing.h"

enum { MARGIN = 12, TILE = 300, GAP = 16, HEAD = 62, TEXT = 40, STACK = 84 };

/* --- taking ---------------------------------------------------------------- */

void multiples_take(const view *v, const char *title, multiples_trace *out)
{
    const tl_timeline *tl = v->tl;
    const facts *f = &v->facts;
    uint64_t from = f->stages[0].begin, length = facts_work(f);

    memset(out, 0, sizeof *out);
    snprintf(out->title, sizeof out->title, "%s", title);
    out->ns = tl_ns(tl, length);
    for (uint32_t i = 0; i < tl->n_rows; i++)
        out->n_shaves += tl->rows[i].kind == TL_ROW_SHAVE && tl->rows[i].lanes;
    out->all = length * out->n_shaves;
    for (int k = 0; k < MULTIPLES_COLUMNS; k++) {
        uint64_t a = from + (uint64_t)((double)length * k / MULTIPLES_COLUMNS);
        uint64_t b =
            from + (uint64_t)((double)length * (k + 1) / MULTIPLES_COLUMNS);

        for (uint32_t i = 0; b > a && i < tl->n_rows; i++) {
            const tl_row *r = &tl->rows[i];
            uint64_t sums[TL_N_CLASSES];

            if (r->kind != TL_ROW_SHAVE || r->n_lanes < 2)
                continue;
            tl_sums(tl, &r->lanes[1], a, b, sums);
            for (int c = 0; c < TL_N_CAUSES; c++) {
                out->cause[c] += sums[c];
                out->share[k][c] += (float)((double)sums[c] /
                                            ((double)(b - a) * out->n_shaves));
            }
        }
    }
}

/* --- drawing ---------------------------------------------------------------- */

static uint32_t columns_of(const multiples_page *p)
{
    double room = p->width - 2 * MARGIN + GAP;
    uint32_t n = (uint32_t)(room / (TILE + GAP));

    return n < 1 ? 1 : n < p->n ? n : p->n;
}

static double height_of(const multiples_page *p)
{
    uint32_t rows = (p->n + columns_of(p) - 1) / columns_of(p);

    return HEAD + rows * (TEXT + STACK + GAP) + MARGIN;
}

static void time_text(double ns, char *to, size_t n)
{
    const char *unit = ns >= 999.5e3 ? "ms" : ns >= 999.5 ? "\xc2\xb5s" : "ns";
    double x = ns / (ns >= 999.5e3 ? 1e6 : ns >= 999.5 ? 1e3 : 1);

    snprintf(to, n, "%.*f %s", x >= 100 ? 0 : x >= 10 ? 1 : 2, x, unit);
}

static void draw_stack(cv_canvas *c, const multiples_page *p,
                       const multiples_trace *t, cv_box at)
{
    double w = at.w / MULTIPLES_COLUMNS;

    for (int k = 0; k < MULTIPLES_COLUMNS; k++) {
        double y = at.y + at.h;

        for (int n = 0; n < TL_N_CAUSES; n++) {
            double h = at.h * t->share[k][n];

            if (h <= 0)
                continue;
            y -= h;
            cv_fill_pattern(c, (cv_box){at.x + w * k, y, w, h},
                            p->colors->class_color[n],
                            p->colors->class_pattern[n]);
        }
    }
}

static void draw_tile(cv_canvas *c, const multiples_page *p, uint32_t i,
                      double longest, uint32_t fastest, cv_box at)
{
    const multiples_trace *t = &p->traces[i];
    const theme *colors = p->colors;
    char time[32], text[128];
    double w = longest > 0 ? at.w * t->ns / longest : 0;

    if (i == fastest && p->n > 1)
        cv_frame(c, (cv_box){at.x - 6, at.y - 2, at.w + 12, at.h + 8},
                 colors->accent);
    cv_text_fit(c, (cv_slot){at.x, at.y + 10, at.w}, CV_BOLD, colors->text,
                t->title);
    time_text(t->ns, time, sizeof time);
    snprintf(text, sizeof text, "%s", time);
    if (i && t->ns > 0)
        snprintf(text, sizeof text, "%s, %.2f times the first", time,
                 t->ns / p->traces[0].ns);
    if (t->all)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 ", issue %.0f %%",
                 100 * (double)t->cause[TL_ISSUE] / (double)t->all);
    cv_text_fit(c, (cv_slot){at.x, at.y + 28, at.w}, CV_SMALL, colors->dim,
                text);
    cv_fill(c, (cv_box){at.x, at.y + TEXT, at.w, STACK}, colors->panel);
    draw_stack(c, p, t, (cv_box){at.x, at.y + TEXT, w, STACK});
}

static void draw_legend(cv_canvas *c, const multiples_page *p)
{
    double x = MARGIN;

    cv_text(c, MARGIN, 18, CV_BOLD, p->colors->text,
            "What the SHAVEs' time goes to, on one scale of time");
    for (int k = 0; k < TL_N_CAUSES; k++) {
        bool any = false;

        for (uint32_t i = 0; i < p->n; i++)
            any |= p->traces[i].cause[k] > 0;
        if (!any ||
            x + 20 + cv_text_width(c, CV_NORMAL, tl_class_name((tl_class)k)) >
                p->width)
            continue;
        cv_fill_pattern(c, (cv_box){x, 36, 12, 12}, p->colors->class_color[k],
                        p->colors->class_pattern[k]);
        x += 17 + cv_text(c, x + 17, 42, CV_NORMAL, p->colors->text,
                          tl_class_name((tl_class)k));
        x += 18;
    }
}

static void draw(const void *user, cv_canvas *c)
{
    const multiples_page *p = user;
    uint32_t n = columns_of(p), fastest = 0;
    double each = (p->width - 2 * MARGIN - (n - 1) * GAP) / n, longest = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        longest = fmax(longest, p->traces[i].ns);
        if (p->traces[i].ns < p->traces[fastest].ns)
            fastest = i;
    }
    cv_fill(c, (cv_box){0, 0, p->width, height_of(p)}, p->colors->page);
    draw_legend(c, p);
    for (uint32_t i = 0; i < p->n; i++)
        draw_tile(c, p, i, longest, fastest,
                  (cv_box){MARGIN + (i % n) * (each + GAP),
                           HEAD + (double)(i / n) * (TEXT + STACK + GAP), each,
                           TEXT + STACK});
}

vpu_status multiples_write(const multiples_page *p, const char *path,
                           vpu_error *err)
{
    return cv_drawing_write(
        &(const cv_drawing){p->width, height_of(p), draw, p}, path, err);
}
