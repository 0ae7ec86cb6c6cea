/* Lines of menu.def in a box. */
#include "visualizer/menu.h"

#include <math.h>

#include "visualizer/control.h"

enum { LINE = 22, WIDTH = 220, EDGE = 6 };

static const struct {
    const char *text;
    uint32_t key;
    unsigned mods, needs;
} rows[] = {
#define MENU(text, key, mods, needs) {text, key, mods, needs},
#include "visualizer/menu.def"
};

_Static_assert(sizeof rows / sizeof *rows <= MENU_MAX, "more lines than room");

void menu_open(menu *m, unsigned has, double x, double y, double width,
               double height)
{
    *m = (menu){.open = true, .x = x, .y = y};
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++)
        if (!(rows[i].needs & ~has))
            m->lines[m->n++] = i;
    m->box = (cv_box){x, y, WIDTH, m->n * LINE + 2 * EDGE};
    m->box.x = fmax(fmin(x, width - m->box.w), 0);
    m->box.y = fmax(fmin(y, height - m->box.h), 0);
}

/* The line there, -1: none. */
static int line_at(const menu *m, double x, double y)
{
    int i = (int)floor((y - m->box.y - EDGE) / LINE);

    return x >= m->box.x && x < m->box.x + m->box.w && i >= 0 && i < m->n ? i
                                                                          : -1;
}

bool menu_choose(menu *m, double x, double y, uint32_t *key, unsigned *mods)
{
    int i = line_at(m, x, y);

    m->open = false;
    if (i < 0)
        return false;
    *key = rows[m->lines[i]].key;
    *mods = rows[m->lines[i]].mods;
    return true;
}

void menu_paint(const menu *m, cv_canvas *c, const theme *colors,
                double mouse_x, double mouse_y)
{
    int at = line_at(m, mouse_x, mouse_y);

    cv_fill(c, m->box, colors->panel);
    cv_frame(c, m->box, colors->strong_line);
    for (int i = 0; i < m->n; i++) {
        cv_box line = {m->box.x + 1, m->box.y + EDGE + i * LINE, m->box.w - 2,
                       LINE};

        if (i == at)
            cv_fill(c, line, colors->shade);
        cv_text_fit(c, (cv_slot){line.x + 12, line.y + LINE / 2, line.w - 24},
                    CV_NORMAL, colors->text, rows[m->lines[i]].text);
    }
}
