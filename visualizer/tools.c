/* Buttons of one width, from the right end of the title on. */
#include "visualizer/tools.h"

#include <math.h>
#include <stddef.h>

#include "visualizer/control.h"

enum { WIDTH = 54, HEIGHT = 20, GAP = 3 };

static const struct {
    const char *text;
    uint32_t key;
    bool compares;
} rows[] = {
#define TOOL(text, key, compares) {text, key, compares},
#include "visualizer/tools.def"
};

enum { N_ROWS = sizeof rows / sizeof *rows };

/* The rows that there is room for beside the title's text. */
static int shown(const tools_place *p, int list[N_ROWS])
{
    int room = (int)(p->title.w * 0.5 / (WIDTH + GAP)), n = 0;

    for (int i = 0; i < N_ROWS && n < room; i++)
        if (!rows[i].compares || p->compares)
            list[n++] = i;
    return n;
}

static cv_box box_of(const tools_place *p, int n, int i)
{
    return (cv_box){p->title.x + p->title.w - (n - i) * (WIDTH + GAP),
                    p->title.y + (p->title.h - HEIGHT) / 2, WIDTH, HEIGHT};
}

static int index_at(const tools_place *p, int n, double x, double y)
{
    for (int i = 0; i < n; i++) {
        cv_box b = box_of(p, n, i);

        if (x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h)
            return i;
    }
    return -1;
}

uint32_t tools_at(const tools_place *p, double x, double y)
{
    int list[N_ROWS], n = shown(p, list), i = index_at(p, n, x, y);

    return i < 0 ? 0 : rows[list[i]].key;
}

static void paint_tip(const tools_place *p, cv_canvas *c, const theme *colors,
                      cv_box button, const char *tip)
{
    double w = fmin(cv_text_width(c, CV_NORMAL, tip) + 16, p->title.w);
    cv_box at = {button.x, button.y + HEIGHT + 4, w, 24};

    at.x = fmin(at.x, p->title.x + p->title.w - w);
    cv_fill(c, at, colors->text);
    cv_text_fit(c, (cv_slot){at.x + 8, at.y + 12, w - 12}, CV_NORMAL,
                colors->page, tip);
}

void tools_paint(const tools_place *p, cv_canvas *c, const theme *colors,
                 double mouse_x, double mouse_y, const char *tip)
{
    int list[N_ROWS], n = shown(p, list), at = index_at(p, n, mouse_x, mouse_y);

    if (n)
        cv_fill(c,
                (cv_box){box_of(p, n, 0).x - 8, p->title.y,
                         n * (WIDTH + GAP) + 8, p->title.h},
                colors->page);
    for (int i = 0; i < n; i++) {
        cv_box b = box_of(p, n, i);
        const char *text = rows[list[i]].text;
        double w = cv_text_width(c, CV_SMALL, text);

        cv_fill(c, b, i == at ? colors->shade : colors->panel);
        cv_frame(c, b, colors->line);
        cv_text(c, b.x + (b.w - w) / 2, b.y + HEIGHT / 2.0, CV_SMALL,
                colors->text, text);
    }
    if (at >= 0 && tip)
        paint_tip(p, c, colors, box_of(p, n, at), tip);
}
