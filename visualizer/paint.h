/* A view on a canvas. */
#ifndef VPU_VISUALIZER_PAINT_H
#define VPU_VISUALIZER_PAINT_H

#include "visualizer/canvas.h"
#include "visualizer/compare.h"
#include "visualizer/stats.h"
#include "visualizer/table.h"
#include "visualizer/theme.h"
#include "visualizer/view.h"

/* Where the parts of a page are. w or h 0: not shown. */
typedef struct {
    cv_box difference; /* of a comparison, above the rows */
    cv_box title, legend, axis, labels, rows, panel, minimap, status;
    cv_box bar;   /* to scroll the rows; h 0: all are seen */
    cv_box thumb; /* in it */
} paint_boxes;

/* FIGURES: of the range, the selection. SOURCE: the kernel's lines and what
 * they cost. SLICES: how often and how long. ADVICE: what would help. PIPELINE:
 * bundles. CHANGES: of a comparison, what got slower. */
typedef enum {
#define PANEL(id, name, compares, width, painter) PANEL_##id,
#include "visualizer/panels.def"
    PAINT_N_PANELS
} paint_panel_kind;

/* Findings of the panel of advice that can be chosen. */
enum { PAINT_ADVICE = 16 };

/* A class of the legend, from x on, to `end`; end 0: it is not there. */
typedef struct {
    double x, end;
} paint_legend_item;

typedef struct {
    const view *view;
    const compare *cmp; /* NULL: nothing to compare with */
    int side;           /* of it: 0 = A, 1 = B */
    const view *under;  /* B, drawn into A's rows; NULL = not */
    paint_panel_kind shows;
    uint64_t change;     /* of the list: the one chosen, from 1; 0 = none */
    const table *slices; /* of PANEL_SLICES; NULL = not counted */
    const theme *colors;
    const char *title;         /* of the file */
    paint_legend_item *legend; /* TL_OTHER of them, written by paint; NULL = not
                                  asked for */
    double *advice;            /* where findings end on the canvas,
                                  PAINT_ADVICE of them, written by paint; NULL =
                                  not asked for */
    const char *status;        /* at the bottom; NULL = none */
    cv_box area;               /* of the whole page on the canvas */
    const tl_timeline
        *beside;        /* compared with: counters get one scale; or NULL */
    bool panel;         /* numbers at the right, if there is room */
    double panel_width; /* 0: the panel's own */
    bool minimap;
    bool has_hover;
    view_slice hover;
    double hover_x, hover_y; /* for the tooltip; on the canvas */
} paint_page;

/* What the source pane and the details look at: the stage, phase and cause of
 * the selection, or the stage in the middle of the view; and their line. */
typedef struct {
    const facts_stage *stage;
    const char *phase; /* NULL = all */
    tl_class cause;    /* TL_N_CAUSES = all */
    bool has_line;
    facts_cost line; /* total 0: known without a profile, as of a transfer */
    double share;    /* of the cycles looked at */
} paint_focus;

/* The rows of panels.def. */
typedef struct {
    const char *name;
    bool compares;
    double width;
    void (*paint)(cv_canvas *c, const paint_page *p, cv_box at);
} paint_panel;

extern const paint_panel paint_panels[PAINT_N_PANELS];

paint_focus paint_focus_of(const view *v);
const char *paint_trim(const char *text); /* without blanks in front */

/* What a click into the panel means: a line of the source (file NULL: none), a
 * row of the list of changes, counted from 1. */
uint32_t paint_line_at(const paint_page *p, double y, const char **file);
uint64_t paint_change_at(const paint_page *p, double y);
/* A finding of the advice, from 1; 0 = none. Of the last picture. */
uint32_t paint_advice_at(const paint_page *p, double y);
/* The bundle of the list at that height; false: none. */
bool paint_bundle_at(const paint_page *p, double y, view_slice *out);

/* What counts for a row, of the visible stretch: "38 %" of a SHAVE issued, of a
 * channel had a transfer; KiB of local memory; a counter's mean; "" for others.
 */
void paint_row_figure(const view *v, const tl_row *r, char *to, size_t n);
/* What of the table of slices is at a point. */
typedef struct {
    enum {
        PAINT_NOTHING,
        PAINT_GROUPING,
        PAINT_COLUMN,
        PAINT_LINE /* of the result */
    } what;
    uint32_t which;
} paint_slices_part;

paint_slices_part paint_slices_at(const paint_page *p, double x, double y);
/* The last line that may stand at the top. */
uint32_t paint_slices_last(const paint_page *p);

/* The panel of a page when two stand below each other: the list of changes is
 * there once. */
paint_panel_kind paint_shows(paint_panel_kind wanted, bool both, int side);
void paint_layout(const paint_page *p, paint_boxes *b);
/* Of a class; paler when another one alone is shown. */
cv_color paint_class_color(const paint_page *p, int class);
/* The height a page needs to show all its rows. */
double paint_height(const paint_page *p);
void paint(cv_canvas *c, const paint_page *p);

/* --- parts, for paint's own files ---------------------------------------- */
void paint_lane(cv_canvas *c, const paint_page *p, const tl_row *r,
                const tl_lane *l, bool phases, cv_box at);
/* Dims what of a row is not on the critical path. */
void paint_off_path(cv_canvas *c, const paint_page *p, const view_row *row,
                    cv_box at);
void paint_counter(cv_canvas *c, const paint_page *p, const tl_row *r,
                   cv_box at);
void paint_heat(cv_canvas *c, const paint_page *p, const view_row *row,
                cv_box at);
/* The share that has the last colour: 5, 10, 20, 50 or 100 %, so that no lane
 * of either timeline has more; beside: the one compared with, or NULL. */
double paint_heat_top(const tl_timeline *tl, const tl_timeline *beside,
                      const tl_row *r);
/* Its colours and what they are; what stands beside a heat map. */
void paint_heat_scale(cv_canvas *c, const paint_page *p, const tl_row *r,
                      cv_box at);
void paint_heat_label(cv_canvas *c, const paint_page *p, const view_row *row,
                      cv_box at, const char *figure);
/* Of all lanes. */
double paint_heat_mean(const view *v, const tl_row *r, uint64_t from,
                       uint64_t to);
const char *paint_heat_word(const tl_row *r); /* "busy", "in use" */
/* "DDR banks: bank 3, 42.0 % busy, from … for …" */
void paint_heat_point(const view *v, const view_point *at, char *to, size_t n);
#define PANEL(id, name, compares, width, painter) \
    void painter(cv_canvas *c, const paint_page *p, cv_box at);
#include "visualizer/panels.def"
/* Causes from the longest down, as bars with their share of `all`, as many as
 * there is room for. */
void paint_cause_bars(cv_canvas *c, const paint_page *p, cv_box at,
                      const uint64_t *cause, uint64_t all);
void paint_advice_mark(cv_canvas *c, const paint_page *p, const paint_boxes *b);
void paint_tooltip(cv_canvas *c, const paint_page *p);
/* On top of the rows: deltas of a comparison, where the chosen line runs. */
/* Where B loses and gains, along A's time. */
void paint_difference(cv_canvas *c, const paint_page *p, const paint_boxes *b);
void paint_badges(cv_canvas *c, const paint_page *p, const paint_boxes *b);
/* B's row of the same name in the lower half of A's. */
void paint_under(cv_canvas *c, const paint_page *p, const view_row *row,
                 cv_box at);
/* A SHAVE's or stage's delta; false: none. */
bool paint_row_delta(const paint_page *p, const tl_row *r, char *to, size_t n);
void paint_row(cv_canvas *c, const paint_page *p, const view_row *row,
               cv_box at);
void paint_minimap(cv_canvas *c, const paint_page *p, cv_box at);
/* "12.3", three significant digits, no exponent. */
void paint_number(char *to, size_t n, double value);

#endif
