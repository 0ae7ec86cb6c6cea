/* How many pixels a display has for one of the page. */
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

#endif
