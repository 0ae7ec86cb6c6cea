/* Drawings in files: what a function paints, as SVG or PNG by the end of the
 * file's name. */
#ifndef VPU_VISUALIZER_DRAWING_H
#define VPU_VISUALIZER_DRAWING_H

#include "visualizer/canvas.h"

typedef struct {
    double width, height; /* logical pixels */
    void (*draw)(const void *user, cv_canvas *to);
    const void *user;
} cv_drawing;

/* VPU_ERR_INVALID  the name ends with neither .svg nor .png */
vpu_status cv_drawing_check(const char *path, vpu_error *err);
/* VPU_ERR_INVALID  as cv_drawing_check
 * VPU_ERR_IO       no fonts; cannot be written
 * VPU_ERR_NOMEM */
vpu_status cv_drawing_write(const cv_drawing *d, const char *path,
                            vpu_error *err);

#endif
