/* What is shown of a timeline: the stretch of time, the rows, what is
 * selected. No pixels are drawn here, and nothing here needs a display.
 *
 * Times of the visible stretch are ticks as doubles: zoomed in far, a pixel is
 * less than a tick. */
#ifndef VPU_VISUALIZER_VIEW_H
#define VPU_VISUALIZER_VIEW_H

#include "visualizer/facts.h"

typedef enum { VIEW_AUTO, VIEW_CYCLES, VIEW_NS, VIEW_US, VIEW_MS } view_unit;

typedef struct {
    uint32_t row; /* of the timeline */
    bool folded, pinned, hidden;
    double y, h; /* laid out, from the top of the rows' area; h 0 = hidden */
} view_row;

typedef struct {
    double from, to;
} view_span;

enum { VIEW_HISTORY = 64, VIEW_FILTER = 128 };

typedef struct {
    uint32_t row, lane; /* of the timeline */
    uint64_t slice;
} view_slice;

/* A place of a heat map. */
typedef struct {
    uint32_t row, lane; /* of the timeline; of the row's lanes */
    uint64_t from, to;  /* how long the value holds */
    double value;       /* a share of one */
} view_point;

typedef struct {
    const tl_timeline *tl;
    facts facts;
    double from, to; /* visible */
    uint64_t extent; /* what can be shown ends here: the trace's end, or the
                        later of two compared traces */
    view_row *rows;  /* in the order shown */
    uint32_t n_rows;
    double height;            /* of all rows */
    char filter[VIEW_FILTER]; /* texts, commas between them, of which a row's
                                 name has one; "" = all rows */
    bool path_only;           /* what is not on the critical path is dimmed */
    int only;      /* time of this class alone is not dimmed, + 1; 0 = of all */
    bool tall;     /* SHAVEs' rows have room for another trace's */
    double scroll; /* logical pixels the rows are moved up */
    view_unit unit;
    bool has_selection, has_range;
    view_slice selection;
    bool has_point; /* without a selection alone */
    view_point point;
    const char *line_file; /* chosen in the source pane; NULL = none */
    uint32_t line;
    double source_column; /* characters the source pane is moved to the right */
    double source_scroll; /* lines the source pane is moved from where the
                             hottest is in the middle */
    uint32_t advice;      /* the finding that is chosen, from 1; 0 = none */
    uint64_t range_from, range_to; /* marked, in order */
    bool has_area; /* with has_range: of the rows in `area` alone */
    bool *area;    /* by row of the timeline */
    view_span history[VIEW_HISTORY];
    uint32_t n_history, at_history;
} view;

/* The lane that a slice is of. */
static inline const tl_lane *view_lane_of(const view *v, const view_slice *s)
{
    return &v->tl->rows[s->row].lanes[s->lane];
}

/* Rows with something in them: stages, the critical path, SHAVEs, DMA channels,
 * counters, heat maps, others.
 * VPU_ERR_NOMEM */
vpu_status view_init(view *v, const tl_timeline *tl, vpu_error *err);
void view_free(view *v);

/* --- time ---------------------------------------------------------------- */
/* x in 0 .. width of the rows' area */
double view_x(const view *v, double width, double t);
double view_t(const view *v, double width, double x);
/* Shows [from, to), kept inside the trace and at least 8 ticks wide; the
 * stretch before can be come back to. */
void view_show(view *v, double from, double to);
/* As view_show, without a place in the history: for steps of a movement. */
void view_move(view *v, double from, double to);
void view_fit(view *v);
/* factor < 1 zooms in; the tick `at` stays where it is. */
void view_zoom(view *v, double factor, double at);
void view_pan(view *v, double share); /* of the visible stretch */
void view_back(view *v);
void view_forward(view *v);
/* Range, any order, clamped; of all rows. */
void view_mark(view *v, double a, double b);
/* Of those rows alone that lie between two heights, as view_row_at has them, in
 * any order; of all rows when there are none. After view_mark. */
void view_mark_rows(view *v, double y0, double y1);
/* Whether a row of the timeline belongs to what is marked; without a marked
 * area every one does. */
bool view_in_area(const view *v, uint32_t row);
/* Rows of the marked area; 0: there is none. */
uint32_t view_area_rows(const view *v);

/* --- rows ---------------------------------------------------------------- */
/* Places the rows; call after any change to them. */
void view_layout(view *v);
void view_fold(view *v, uint32_t at, bool folded);
void view_pin(view *v, uint32_t at, bool pinned);
void view_hide(view *v, uint32_t at, bool hidden);
/* Folds or unfolds all rows of that one's kind; SHAVE 0's local memory stays,
 * so that there is something to unfold. */
void view_fold_kind(view *v, uint32_t at);
/* Shows the rows whose names hold one of the texts between commas alone; case
 * and blanks around them do not matter. "" = all. What is longer than
 * VIEW_FILTER is cut off. */
void view_filter(view *v, const char *texts);
/* By view_hide, or by the filter. */
bool view_is_hidden(const view *v, const view_row *r);
void view_raise(view *v, uint32_t at, int by); /* moves it up or down */

/* Heights in a SHAVE's row: the phases above, the causes below. */
enum { VIEW_PHASES = 12, VIEW_CAUSES = 15, VIEW_LANE = 16, VIEW_GAP = 3 };
/* Where a lane is inside a row that begins at 0. */
void view_lane_place(const view *v, const view_row *r, uint32_t lane, double *y,
                     double *h);

/* --- finding ------------------------------------------------------------- */
/* The row at y (from the top of the rows' area, scrolling included); rows or
 * UINT32_MAX. */
uint32_t view_row_at(const view *v, double y);
/* The innermost slice at a point; at subpixel zoom the longest in the pixel. */
bool view_hit(const view *v, double width, double x, double y, view_slice *out);
/* The place of a heat map at a point. */
bool view_heat_at(const view *v, double width, double x, double y,
                  view_point *out);
/* The next slice whose name, "name number", launch or row holds the text (case
 * does not matter), from the selection on, round the end; dir 1 or -1. */
bool view_search(const view *v, const char *text, int dir, view_slice *out);
/* The same; without a selection from time t on. */
bool view_search_from(const view *v, const char *text, int dir, double t,
                      view_slice *out);

/* Counts all that a text finds, some slices at a time. 16 KiB. */
typedef struct {
    bool on, done;
    uint64_t total;  /* found so far */
    uint64_t before; /* of those, before the place that was begun with */
    bool at;         /* the selection at begin is one */
    char text[128];
    uint64_t begin, after; /* the place: time, slice */
    int64_t place;         /* row and lane */
    uint32_t row, lane;    /* what is next */
    uint64_t slice;
    uint8_t known[1 << 14]; /* of each name 2 bits: not asked, found, not */
} view_hits;

/* Places are as of view_search_from. An empty text counts nothing. */
void view_hits_begin(view_hits *h, const view *v, const char *text, double t);
/* Looks at that many slices more; whether there is more to do. The view's rows
 * must be those of the begin. */
bool view_hits_step(view_hits *h, const view *v, uint64_t slices);
/* NULL: none. No place of a heat map is chosen then, either. */
void view_select(view *v, const view_slice *s);
/* A place of a heat map instead. */
void view_choose(view *v, const view_point *at);
/* Moves the visible stretch so that the slice is in it. */
void view_reveal(view *v, const view_slice *s);
/* The phase of the same group that comes before or after on that SHAVE: "pre"
 * to "comp" to "post". */
bool view_flow(const view *v, const view_slice *s, int dir, view_slice *out);

/* What the trace says about the work-group of a slice (a phase, a transfer,
 * local memory); false: nothing. */
typedef struct {
    uint64_t slack; /* ticks that its compute phase could take longer without
                       the launch ending later */
    bool on_path;
} view_slack;

bool view_slack_of(const view *v, const view_slice *s, view_slack *out);

/* --- bundles -------------------------------------------------------------- */

/* A slice of a row of bundles, as far as the trace tells. Cycles are issue
 * cycles of the phase. */
typedef struct {
    const char *place; /* in the program: "BLOCK.CYCLE"; the timeline's texts,
                          "" = not told */
    const char *why;   /* nothing issued before it */
    const char *file;
    uint32_t line; /* 0 = none */
    uint64_t number, group, cycle;
    uint64_t waited;  /* cycles in which nothing issued before it */
    uint64_t latency; /* until its last result is there, at least 1 */
    bool reads; /* a result of bundle `from`, the last of those it needs */
    uint64_t from;
    uint64_t stalls[TL_N_CAUSES]; /* of the SHAVE since the bundle before */
    char text[400];               /* its operations: "LSU0 ld.u16 i3, [i4]" */
} view_bundle;

/* False: the slice is none. */
bool view_bundle_of(const view *v, const view_slice *s, view_bundle *out);
/* One of that source line; costs less than all that is known. */
bool view_bundle_on(const view *v, const view_slice *s, const char *file,
                    uint32_t line);
/* The selected one; else the one at the selection's begin or the middle of what
 * is visible, or before it: of the selection's SHAVE, if that has bundles.
 * False: the trace has none. */
bool view_bundle_near(const view *v, view_slice *out);
/* The slice of bundle `number` in the row of s; false: it is not there. */
bool view_bundle_find(const view *v, const view_slice *s, uint64_t number,
                      view_slice *out);
/* The trace has the group's first bundles alone. */
bool view_bundles_cut(const view *v, uint32_t row);

/* --- units --------------------------------------------------------------- */
/* A time or a length as text: "812 244 cycles", "1.160 ms". step: of the scale
 * it stands on, for the digits; 0 = the value itself. */
void view_time_text(const view *v, double ticks, double step, char *to,
                    size_t n);
/* "12000", "12000cycles", "1.5us", "2ms", "300ns" as ticks; without a unit
 * cycles, or nanoseconds in traces not ours. False: not a time. */
bool view_parse_time(const tl_timeline *tl, const char *text, double *ticks);
/* Round steps of the axis in the view's unit, at least `room` apart. */
double view_step(const view *v, double width, double room);

#endif
