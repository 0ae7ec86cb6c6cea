/* What pictures are drawn on: pixels in memory, or an SVG document.
 *
 * Coordinates are logical pixels from the top left; a canvas of scale 2 has
 * two device pixels for each. Colours are 0xAARRGGBB. One thread. */
#ifndef VPU_VISUALIZER_CANVAS_H
#define VPU_VISUALIZER_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

typedef uint32_t cv_color;

/* Over a fill, so that colours are not the only thing that tells. Anchored to
 * the picture, not to the shape: neighbours continue it. */
typedef enum {
    CV_PLAIN,
    CV_SLASH,     /* /// */
    CV_BACKSLASH, /* \\\ */
    CV_DOTS,
    CV_DASHES,
    CV_N_PATTERNS
} cv_pattern;

typedef enum {
    CV_SMALL,
    CV_NORMAL,
    CV_BOLD,
    CV_TITLE,
    CV_MONO,
    CV_N_FONTS
} cv_font;

typedef struct font_set font_set;

typedef struct canvas canvas;
typedef struct {
    void (*fill)(canvas *c, double x, double y, double w, double h,
                 cv_color color, cv_pattern pattern);
    void (*line)(canvas *c, double x0, double y0, double x1, double y1,
                 cv_color color);
    void (*text)(canvas *c, double x, double y, cv_font font, cv_color color,
                 const char *text);
    void (*clip)(canvas *c, double x, double y, double w, double h);
} cv_ops;

struct canvas {
    const cv_ops *ops;
    font_set *fonts; /* both measure with them */
    double width, height, scale;
    /* raster */
    uint32_t *px; /* 0xAARRGGBB, stride device pixels a line */
    int pw, ph, stride;
    int cx0, cy0, cx1, cy1; /* clip */
    /* svg */
    str *out;
    uint32_t n_clips;
    bool clipped;
};

/* --- fonts ---
 * DejaVu Sans, from fonts-dejavu-core or where VPU_FONT_DIR says.
 * VPU_ERR_IO  not found (message: what to install), or not a font */
vpu_status fonts_open(double scale, font_set **out, vpu_error *err);
void fonts_close(font_set *f); /* NULL is fine */

/* --- canvases ------------------------------------------------------------ */
/* Pixels of the caller's, stride words a line. */
void cv_raster(canvas *c, font_set *fonts, uint32_t *px, int pw, int ph,
               int stride, double scale);
/* Appends a document to out; cv_svg_end closes it. */
void cv_svg(canvas *c, font_set *fonts, double width, double height, str *out);
void cv_svg_end(canvas *c);
/* VPU_ERR_IO */
vpu_status cv_write_png(const canvas *c, const char *path, vpu_error *err);

/* --- drawing ------------------------------------------------------------- */
void cv_fill(canvas *c, double x, double y, double w, double h, cv_color color);
void cv_fill_pattern(canvas *c, double x, double y, double w, double h,
                     cv_color color, cv_pattern pattern);
void cv_frame(canvas *c, double x, double y, double w, double h,
              cv_color color);
void cv_line(canvas *c, double x0, double y0, double x1, double y1,
             cv_color color);
void cv_clip(canvas *c, double x, double y, double w, double h);
void cv_unclip(canvas *c);
/* Of the text, UTF-8; what is not is shown as U+FFFD. y is the middle of the
 * line. */
double cv_text_width(const canvas *c, cv_font font, const char *text);
double cv_text(canvas *c, double x, double y, cv_font font, cv_color color,
               const char *text);
/* Ends at x. */
void cv_text_right(canvas *c, double x, double y, cv_font font, cv_color color,
                   const char *text);
/* Cut with … to fit in room; not drawn when nothing fits. */
void cv_text_fit(canvas *c, double x, double y, double room, cv_font font,
                 cv_color color, const char *text);

#endif
