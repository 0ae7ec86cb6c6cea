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

typedef struct cv_font_set cv_font_set;

typedef struct {
    double x, y, w, h;
} cv_box;

/* Where a line of text may be: it begins at x, its middle is at y, and it is
 * at most room wide. */
typedef struct {
    double x, y, room;
} cv_slot;

/* Pixels in memory, which the caller owns. */
typedef struct {
    uint32_t *px; /* 0xAARRGGBB, stride words a line */
    int w, h, stride;
} cv_pixels;

typedef struct cv_canvas cv_canvas;
typedef struct {
    void (*fill)(cv_canvas *c, cv_box at, cv_color color, cv_pattern pattern);
    void (*line)(cv_canvas *c, double x0, double y0, double x1, double y1,
                 cv_color color);
    void (*text)(cv_canvas *c, double x, double y, cv_font font, cv_color color,
                 const char *text);
    void (*clip)(cv_canvas *c, cv_box at);
} cv_ops;

struct cv_canvas {
    const cv_ops *ops;
    cv_font_set *fonts; /* both measure with them */
    double width, height, scale;
    /* raster */
    cv_pixels to;
    int cx0, cy0, cx1, cy1; /* clip */
    /* svg */
    str *out;
    uint32_t n_clips;
    bool clipped;
};

/* --- fonts ---
 * DejaVu Sans, from fonts-dejavu-core or where VPU_FONT_DIR says.
 * VPU_ERR_IO  not found (message: what to install), or not a font */
vpu_status cv_fonts_open(double scale, cv_font_set **out, vpu_error *err);
void cv_fonts_close(cv_font_set *f); /* NULL is fine */

/* --- canvases ------------------------------------------------------------ */
/* The pixels must live as long as the canvas draws. */
void cv_raster(cv_canvas *c, cv_font_set *fonts, const cv_pixels *to,
               double scale);
/* Appends a document to out; cv_svg_end closes it. */
void cv_svg(cv_canvas *c, cv_font_set *fonts, double width, double height,
            str *out);
void cv_svg_end(cv_canvas *c);
/* VPU_ERR_IO */
vpu_status cv_write_png(const cv_canvas *c, const char *path, vpu_error *err);

/* --- drawing ------------------------------------------------------------- */
void cv_fill(cv_canvas *c, cv_box at, cv_color color);
void cv_fill_pattern(cv_canvas *c, cv_box at, cv_color color,
                     cv_pattern pattern);
void cv_frame(cv_canvas *c, cv_box at, cv_color color);
void cv_line(cv_canvas *c, double x0, double y0, double x1, double y1,
             cv_color color);
void cv_clip(cv_canvas *c, cv_box at);
void cv_unclip(cv_canvas *c);
/* Of the text, UTF-8; what is not is shown as U+FFFD. y is the middle of the
 * line. */
double cv_text_width(const cv_canvas *c, cv_font font, const char *text);
double cv_text(cv_canvas *c, double x, double y, cv_font font, cv_color color,
               const char *text);
/* Ends at x. */
void cv_text_right(cv_canvas *c, double x, double y, cv_font font,
                   cv_color color, const char *text);
/* Cut with … to fit in the room; not drawn when nothing fits. */
void cv_text_fit(cv_canvas *c, cv_slot at, cv_font font, cv_color color,
                 const char *text);

#endif
