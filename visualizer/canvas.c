/* What all canvases share: measuring, cutting and placing text. */
#include "visualizer/canvas.h"

#include <string.h>

#include "visualizer/font.h"

void cv_fill(cv_canvas *c, cv_box at, cv_color color)
{
    c->ops->fill(c, at, color, CV_PLAIN);
}

void cv_fill_pattern(cv_canvas *c, cv_box at, cv_color color,
                     cv_pattern pattern)
{
    c->ops->fill(c, at, color, pattern);
}

void cv_frame(cv_canvas *c, cv_box at, cv_color color)
{
    double t = 1, inside = at.h - 2 * t;

    cv_fill(c, (cv_box){at.x, at.y, at.w, t}, color);
    cv_fill(c, (cv_box){at.x, at.y + at.h - t, at.w, t}, color);
    cv_fill(c, (cv_box){at.x, at.y + t, t, inside}, color);
    cv_fill(c, (cv_box){at.x + at.w - t, at.y + t, t, inside}, color);
}

void cv_line(cv_canvas *c, double x0, double y0, double x1, double y1,
             cv_color color)
{
    c->ops->line(c, x0, y0, x1, y1, color);
}

void cv_clip(cv_canvas *c, cv_box at)
{
    c->ops->clip(c, at);
}

void cv_unclip(cv_canvas *c)
{
    c->ops->clip(c, (cv_box){0, 0, c->width, c->height});
}

double cv_text_width(const cv_canvas *c, cv_font font, const char *text)
{
    int w = 0;

    while (*text)
        w += font_get(c->fonts, font, font_decode(&text))->advance;
    return w / font_scale(c->fonts);
}

double cv_text(cv_canvas *c, double x, double y, cv_font font, cv_color color,
               const char *text)
{
    c->ops->text(c, x, y, font, color, text);
    return cv_text_width(c, font, text);
}

void cv_text_right(cv_canvas *c, double x, double y, cv_font font,
                   cv_color color, const char *text)
{
    cv_text(c, x - cv_text_width(c, font, text), y, font, color, text);
}

void cv_text_fit(cv_canvas *c, cv_slot at, cv_font font, cv_color color,
                 const char *text)
{
    static const char dots[] = "\xe2\x80\xa6";
    double left = at.room - cv_text_width(c, font, dots);
    const char *p = text;
    char cut[512];
    size_t n = 0;

    if (cv_text_width(c, font, text) <= at.room) {
        cv_text(c, at.x, at.y, font, color, text);
        return;
    }
    while (*p) {
        left -= font_get(c->fonts, font, font_decode(&p))->advance /
                font_scale(c->fonts);
        if (left < 0 || (size_t)(p - text) + sizeof dots > sizeof cut)
            break;
        n = (size_t)(p - text);
    }
    if (n < 2) /* a letter and dots say nothing */
        return;
    memcpy(cut, text, n);
    memcpy(cut + n, dots, sizeof dots);
    cv_text(c, at.x, at.y, font, color, cut);
}
