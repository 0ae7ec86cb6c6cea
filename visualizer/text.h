/* A view as lines of text, for terminals. */
#ifndef VPU_VISUALIZER_TEXT_H
#define VPU_VISUALIZER_TEXT_H

#include "base/str.h"
#include "visualizer/view.h"

enum { TEXT_LEAST_COLUMNS = 40, TEXT_MAX_COLUMNS = 1000 };

typedef struct {
    uint32_t columns;  /* of a line, TEXT_LEAST_COLUMNS .. TEXT_MAX_COLUMNS;
                          others count as the nearest of these */
    bool color;        /* with the colours of the dark theme, as SGR codes */
    const char *title; /* of the file; NULL = none */
} text_options;

/* Appends the visible stretch: an axis, the rows that a picture shows, what the
 * letters mean, figures, and the selected slice. Printable ASCII and newlines,
 * with SGR codes when coloured; whatever else the trace's names hold is '?'.
 * The same view gives the same bytes. */
void text_timeline(const view *v, const text_options *o, str *out);

#endif
