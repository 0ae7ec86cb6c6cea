/* Glyphs as coverage bitmaps. Private to the canvases. */
#ifndef VPU_VISUALIZER_FONT_H
#define VPU_VISUALIZER_FONT_H

#include "visualizer/canvas.h"

typedef struct {
    uint32_t code;  /* + 1; 0 = free slot */
    int left, w, h; /* of the bitmap; its top is the line's top */
    int advance;    /* device pixels */
    uint8_t *alpha;
} font_glyph;

const font_glyph *font_get(cv_font_set *f, cv_font font, uint32_t code);
int font_height(const cv_font_set *f, cv_font font); /* device pixels */
double font_size(cv_font font);                      /* logical pixels */
double font_scale(const cv_font_set *f);
/* The next code point; U+FFFD for a byte that is not UTF-8. */
uint32_t font_decode(const char **text);

#endif
