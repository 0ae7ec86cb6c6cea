/* The window. */
#ifndef VPU_VISUALIZER_WINDOW_H
#define VPU_VISUALIZER_WINDOW_H

#include "visualizer/load.h"
#include "visualizer/paint.h"

typedef struct {
    view *views[2]; /* the second NULL without a comparison */
    const char *titles[2];
    const compare *cmp; /* of the two; NULL without */
    compare_mode mode;
    paint_panel_kind panel;
    table_look slices;      /* of their panel */
    const char *file;       /* bookmarks are kept in FILE.marks; NULL: no
                               trace yet, views[0] is empty */
    const char *begin_with; /* without a file: the trace that is loaded first,
                               beside the window; NULL: a list is shown */
    uint32_t width, height; /* 0 = as last time */
    double scale;           /* user's; 0 = as last time */
    int dark;               /* 1, 0; -1 = as last time */
    /* Called a few times a second: whether the views changed (the first one
     * only). NULL: they do not. */
    bool (*refresh)(void *user);
    void *user;
    const char *export_to; /* stem of exported files: STEM-1.png, .svg, .csv */
    /* Other traces, which the user chooses from a list or drops on the window;
     * load NULL: there are none. load is called in a thread of its own, beside
     * everything else; when it gave VPU_OK, take is, in the window's thread:
     * what it returns is shown from then on, alone, and views before are its to
     * free. The title and stem are as above, and good until the next call. */
    vpu_status (*load)(void *user, const char *path, load_watch *w,
                       vpu_error *err);
    view *(*take)(void *user, const char **title);
} window_options;

/* Until the user closes it. Size, scale and theme that the user chose in the
 * window, not those of the options, are remembered in
 * $XDG_STATE_HOME/vpusim/window (default ~/.local/state), searches beside it. A
 * window is no larger than the display.
 *
 * VPU_ERR_UNSUPPORTED  no display (message: what --png is for)
 * VPU_ERR_IO           no fonts
 * VPU_ERR_NOMEM
 * else                 of load, for begin_with */
vpu_status window_run(const window_options *o, vpu_error *err);

#endif
