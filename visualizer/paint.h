/* A view on a canvas. */
#ifndef VPU_VISUALIZER_PAINT_H
#define VPU_VISUALIZER_PAINT_H

#include "visualizer/canvas.h"
#include "visualizer/stats.h"
#include "visualizer/theme.h"
#include "visualizer/view.h"

typedef struct {
    double x, y, w, h;
} paint_box;

/* Where the parts of a page are. w or h 0: not shown. */
typedef struct {
    paint_box title, legend, axis, labels, rows, panel, minimap, status;
} paint_boxes;

typedef struct {
    const view *v;
    const theme *colors;
    const char *title;      /* of the file */
    const char *status;     /* at the bottom; NULL = none */
    paint_box area;         /* of the whole page on the canvas */
    const timeline *beside; /* compared with: counters get one scale; or NULL */
    bool panel;             /* numbers at the right, if there is room */
    bool minimap;
    bool has_hover;
    view_slice hover;
    double hover_x, hover_y; /* for the tooltip; on the canvas */
} paint_page;

void paint_layout(const paint_page *p, paint_boxes *b);
/* The height a page needs to show all its rows. */
double paint_height(const paint_page *p);
void paint(canvas *c, const paint_page *p);

/* --- parts, for paint's own files --- */
void paint_lane(canvas *c, const paint_page *p, const tl_row *r,
                const tl_lane *l, bool phases, paint_box at);
void paint_counter(canvas *c, const paint_page *p, const tl_row *r,
                   paint_box at);
void paint_panel(canvas *c, const paint_page *p, paint_box at);
void paint_tooltip(canvas *c, const paint_page *p);
void paint_minimap(canvas *c, const paint_page *p, paint_box at);
double paint_top(const paint_page *p, const tl_row *r); /* of its scale */
cv_color paint_class_color(const paint_page *p, tl_class c);
/* "12.3", three significant digits, no exponent. */
void paint_number(char *to, size_t n, double value);

#endif
