/* What keys and the mouse do to a view: the window without the window, so that
 * tests need no display. One or two traces; two share their stretch of time. */
#ifndef VPU_VISUALIZER_CONTROL_H
#define VPU_VISUALIZER_CONTROL_H

#include "visualizer/chooser.h"
#include "visualizer/menu.h"
#include "visualizer/paint.h"

typedef enum {
    KEY_NONE,
    KEY_LEFT = 0x10000,
    KEY_RIGHT,
    KEY_UP,
    KEY_DOWN,
    KEY_HOME,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_TAB,
    KEY_ENTER,
    KEY_BACKSPACE,
    KEY_ESCAPE /* others: their character, as typed */
} control_key_code;

enum { MOD_SHIFT = 1, MOD_CTRL = 2, MOD_ALT = 4 };
enum { CONTROL_BOOKMARKS = 9, CONTROL_TEXT = 128, CONTROL_SEARCHES = 9 };

typedef enum {
    DRAG_NONE,
    DRAG_PAN,
    DRAG_MARK,
    DRAG_MINIMAP,
    DRAG_SCROLL,
    DRAG_PANEL /* its left edge */
} control_drag;

typedef struct {
    view *views[2];
    const char *titles[2];
    int n_views, focus; /* views; the one the mouse is over */
    const compare *cmp; /* of the two; NULL: none. Set after control_init */
    compare_mode mode;
    paint_panel_kind shows;
    double panel_width[PAINT_N_PANELS]; /* that the user gave; 0 = none */
    uint64_t change;  /* chosen in the list, from 1; 0 = none */
    table *tables[2]; /* for the panel of slices, one a view; NULL: it stays
                         empty. Set after control_init; the owner clears them */
    table_look look;  /* of both */
    paint_page pages[2];
    paint_legend_item legend[2][TL_OTHER]; /* where the last picture had them */
    double advice[2][PAINT_ADVICE];        /* likewise: where findings end */
    bool dark, searching, quit, export;
    bool filtering;    /* typed text is the rows' filter */
    menu menu;         /* of the right button */
    bool copy;         /* the owner is to put export_text into the clipboard */
    unsigned help;     /* its page, from 1; 0 = not shown */
    double text_scale; /* user's, times the display's */
    double width, height;
    char search[CONTROL_TEXT];
    char status[256];
    bool failed_search;
    view_hits hits;   /* of `search`, in the view that was focused then */
    int hits_in;      /* which one */
    uint64_t hit;     /* which of them is selected, or will be by Enter, from
                         1; 0: not known yet */
    bool tells_hits;  /* in the line at the bottom */
    view_slice found; /* by the last search; with hit */
    /* Texts that were searched for, the last one first; at_search: the one
     * recalled, from 1. */
    char searches[CONTROL_SEARCHES][CONTROL_TEXT];
    int n_searches, at_search;
    bool searched; /* searches[0] is new: the owner may keep it */
    double mouse_x, mouse_y, drag_x, drag_from, drag_to, drag_scroll, drag_y;
    control_drag drag;
    int button;     /* that is down, SDL's number */
    bool moved;     /* since the button went down */
    bool drag_rows; /* it went down on rows: those it crosses are marked */
    struct {
        bool set;
        double from, to;
    } bookmarks[CONTROL_BOOKMARKS];
    bool bookmarks_changed;
    chooser *choose;     /* for other traces; NULL: there are no others. Set
                            after control_init; open: keys are the list's */
    bool wants_choice;   /* the owner is to open the list */
    const char *loading; /* what is shown while another trace is read; NULL */
    bool stop_loading;   /* Escape meanwhile: show what there is by then */
} control;

void control_init(control *k, view *a, const char *title_a, view *b,
                  const char *title_b);
/* After the views' contents were replaced: clears the tables. */
void control_refresh(control *k);
void control_resize(control *k, double width, double height);

/* Text is typed: for the search, the rows' filter or the list of traces. */
bool control_types(const control *k);
/* Keys and the mouse are for the list of traces. */
bool control_chooses(const control *k);
/* Coordinates are logical pixels. Each returns whether the picture changed. */
bool control_key(control *k, uint32_t key, unsigned mods);
bool control_text(control *k, const char *utf8); /* typed, while searching */
bool control_motion(control *k, double x, double y);
bool control_press(control *k, double x, double y, int button, int clicks,
                   unsigned mods);
bool control_release(control *k, double x, double y);
/* y: notches, up zooms in; x: to the right. With shift y pans, with ctrl it
 * scrolls the rows. */
bool control_wheel(control *k, double x, double y, unsigned mods);

/* Counts what is shown, the table of slices and what a search finds, some
 * thousand slices at a time: call before a picture is drawn, and again while
 * control_counts. Whether the picture changed. */
bool control_count(control *k);
bool control_counts(const control *k);

void control_paint(control *k, cv_canvas *c);

/* The rows of keys.def: keys and mouse as help shows them, and their meaning.
 */
typedef struct {
    const char *keys, *text;
} control_help;

/* Their number; *rows unless NULL. */
size_t control_help_rows(const control_help **rows);
/* The row of a key; NULL: it has none. */
const control_help *control_help_of(uint32_t key);
/* Into how many pages the window's height cuts them. */
unsigned control_help_pages(const control *k);

#endif
