/* Colours and patterns. The causes' colours are Okabe and Ito's set; those that
 * look alike to people with some colour vision have different patterns
 * (tests/visualizer/theme_test.c). */
#ifndef VPU_VISUALIZER_THEME_H
#define VPU_VISUALIZER_THEME_H

#include "visualizer/canvas.h"
#include "visualizer/code.h"
#include "visualizer/timeline.h"

enum { THEME_HEAT = 17 };

typedef struct {
    cv_color page, panel, row, row_alternate, line, strong_line, text, dim,
        accent, select, warn, shade;
    cv_color class_color[TL_N_CLASSES];
    cv_pattern class_pattern[TL_N_CLASSES];
    cv_color phase[3]; /* preload, compute, postwrite */
    cv_color area, area_light;
    cv_color code[CODE_N_KINDS];
    cv_color heat[THEME_HEAT]; /* of shares from 0 to 1, evenly */
} theme;

extern const theme theme_light, theme_dark;

/* Of a share, 0 to 1. Lightness alone tells shares apart: from the page's to
 * its opposite, through hues. */
cv_color theme_heat(const theme *t, double share);

/* Black or white, whichever reads better on it. */
cv_color theme_on(cv_color background);

#endif
