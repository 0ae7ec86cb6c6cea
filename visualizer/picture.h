/* Pictures of traces in files, without a display. */
#ifndef VPU_VISUALIZER_PICTURE_H
#define VPU_VISUALIZER_PICTURE_H

#include "visualizer/paint.h"

enum { PICTURE_MAX_SIDE = 16384 }; /* device pixels */

typedef struct {
    const char *png, *svg;  /* where to; either may be NULL */
    uint32_t width, height; /* logical pixels; 0 = 1600, as high as needed */
    double scale;           /* device pixels for each, 0.5 .. 4; 0 = 1 */
    const theme *colors;    /* NULL = light */
    const compare *cmp;     /* of a and b: deltas are shown; may be NULL */
    compare_mode mode;
    paint_panel_kind panel;
    table_look slices; /* of their panel */
} picture_options;

/* One trace, or two below each other on one scale of time (b NULL: one). The
 * views' stretches, rows and selections are shown as they are.
 *
 * VPU_ERR_INVALID  larger than PICTURE_MAX_SIDE, or scale out of bounds
 * VPU_ERR_IO       no fonts, cannot be written
 * VPU_ERR_NOMEM */
vpu_status picture_write(const picture_options *o, const view *a,
                         const char *title_a, const view *b,
                         const char *title_b, vpu_error *err);

#endif
