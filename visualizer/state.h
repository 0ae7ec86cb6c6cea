/* What the viewer remembers: of itself, and bookmarks beside a trace. Text
 * files with a key and its numbers in each line; unknown lines are ignored, and
 * so are files that cannot be read or written. */
#ifndef VPU_VISUALIZER_STATE_H
#define VPU_VISUALIZER_STATE_H

#include "visualizer/control.h"

typedef struct {
    uint32_t width, height; /* of the window; 0 = not chosen */
    double scale;           /* 0 = not chosen: what the display wants */
    int dark;
} viewer_state;

void viewer_state_load(
    viewer_state *s); /* fields without a remembered value keep theirs */
void viewer_state_save(const viewer_state *s);
/* Traces that were opened, the last one first, as absolute paths; n of them, at
 * most VIEWER_RECENT. In the arena. */
enum { VIEWER_RECENT = 12 };
const char *const *viewer_state_recent(arena *a, size_t *n);
/* Now the first of them. */
void viewer_state_opened(const char *trace);
/* Texts that were searched for, into the control, and the last one of them
 * kept before the others. */
void viewer_state_load_searches(control *k);
void viewer_state_searched(const char *text);
void viewer_state_load_marks(const char *trace, control *k);
void viewer_state_save_marks(const char *trace, const control *k);

#endif
