/* The buttons at the top of the window: commands that keys have, too
 * (tools.def). */
#ifndef VPU_VISUALIZER_TOOLS_H
#define VPU_VISUALIZER_TOOLS_H

#include <stdint.h>

#include "visualizer/canvas.h"
#include "visualizer/theme.h"

/* title: the box of the page's title, in whose right part they stand. */
typedef struct {
    cv_box title;
    bool compares; /* there are two traces */
} tools_place;

/* The key of the button at a point; 0: there is none. */
uint32_t tools_at(const tools_place *p, double x, double y);
/* mouse_x, mouse_y: the button there is marked, and says below what it does:
 * tip, NULL without one. */
void tools_paint(const tools_place *p, cv_canvas *c, const theme *colors,
                 double mouse_x, double mouse_y, const char *tip);

#endif
