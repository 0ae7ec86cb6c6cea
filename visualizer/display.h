/* What the window asks of the display besides SDL. */
#ifndef VPU_VISUALIZER_DISPLAY_H
#define VPU_VISUALIZER_DISPLAY_H

#include <stdbool.h>

/* 1 to 4, in quarters: what the desktop asks of programs (Xft.dpi over 96),
 * else by the display's dots an inch where it has 144 or more. SDL is running.
 * Where the window system scales itself (Wayland) 1. */
double display_scale(void);

/* Of so many dots an inch, 0 = not known. */
double display_scale_of(double dots);
/* Dots an inch in a text of X resources; 0: there are none, or nonsense. */
double display_dots(const char *resources);

/* From here on errors of X11 do not end the process: a request that is on its
 * way when its window is destroyed is no fault of ours (SDL wakes itself by
 * one, on a connection of its own). Elsewhere nothing. Process-wide. */
void display_ignore_errors(void);

#endif
