/* The menu of a click with the right button, on the page of a control. Its
 * lines are commands that keys have, too (menu.def). */
#ifndef VPU_VISUALIZER_MENU_H
#define VPU_VISUALIZER_MENU_H

#include "visualizer/canvas.h"
#include "visualizer/theme.h"

enum { MENU_SLICE = 1, MENU_ROW = 2 };
enum { MENU_MAX = 16 }; /* lines */

typedef struct {
    bool open;
    double x, y; /* where it was asked for: what its lines are about */
    cv_box box;
    int lines[MENU_MAX], n; /* rows of menu.def that mean something now */
} menu;

/* has: MENU_SLICE, MENU_ROW, what there is at the mouse. The menu is placed
 * inside the page of that size. */
void menu_open(menu *m, unsigned has, double x, double y, double width,
               double height);
/* Closes it. The command of the line at a point; false: beside the lines. */
bool menu_choose(menu *m, double x, double y, uint32_t *key, unsigned *mods);
/* mouse_x, mouse_y: the line there is marked. */
void menu_paint(const menu *m, cv_canvas *c, const theme *colors,
                double mouse_x, double mouse_y);

#endif
