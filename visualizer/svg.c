/* The canvas that is an SVG document. Numbers have two decimals and no
 * locale's comma. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "visualizer/canvas.h"
#include "visualizer/font.h"

static void number(str *out, const char *key, double v)
{
    long long n = llround(v * 100);
    long long m = n < 0 ? -n : n;

    str_printf(out, " %s=\"%s%lld", key, n < 0 ? "-" : "", m / 100);
    if (m % 100)
        str_printf(out, ".%02lld", m % 100);
    str_puts(out, "\"");
}

static void paint(str *out, const char *key, cv_color color)
{
    str_printf(out, " %s=\"#%06x\"", key, color & 0xffffff);
    if (color >> 24 != 255)
        str_printf(out, " %s-opacity=\"0.%02u\"", key,
                   (color >> 24) * 100 / 256);
}

static void rect(cv_canvas *c, cv_box at)
{
    str_puts(c->out, "<rect");
    number(c->out, "x", at.x);
    number(c->out, "y", at.y);
    number(c->out, "width", at.w);
    number(c->out, "height", at.h);
}

static void svg_fill(cv_canvas *c, cv_box at, cv_color color,
                     cv_pattern pattern)
{
    if (at.w <= 0 || at.h <= 0)
        return;
    rect(c, at);
    paint(c->out, "fill", color);
    str_puts(c->out, "/>\n");
    if (!pattern)
        return;
    rect(c, at);
    str_printf(c->out, " fill=\"url(#p%d)\"/>\n", pattern);
}

static void svg_line(cv_canvas *c, double x0, double y0, double x1, double y1,
                     cv_color color)
{
    str_puts(c->out, "<line");
    number(c->out, "x1", x0);
    number(c->out, "y1", y0);
    number(c->out, "x2", x1);
    number(c->out, "y2", y1);
    paint(c->out, "stroke", color);
    str_puts(c->out, "/>\n");
}

static void svg_text(cv_canvas *c, double x, double y, cv_font font,
                     cv_color color, const char *text)
{
    static const char *const styles[] = {
        [CV_BOLD] = " font-weight=\"bold\"",
        [CV_TITLE] = " font-weight=\"bold\"",
        [CV_MONO] = " font-family=\"DejaVu Sans Mono,monospace\""};

    str_puts(c->out, "<text");
    number(c->out, "x", x);
    number(c->out, "y", y + font_size(font) * 0.36);
    number(c->out, "font-size", font_size(font));
    /* As wide as it was measured, whatever font shows it. */
    number(c->out, "textLength", cv_text_width(c, font, text));
    str_puts(c->out, styles[font] ? styles[font] : "");
    paint(c->out, "fill", color);
    str_puts(c->out, ">");
    str_puts_markup(c->out, text);
    str_puts(c->out, "</text>\n");
}

static void svg_clip(cv_canvas *c, cv_box at)
{
    bool whole = at.x <= 0 && at.y <= 0 && at.x + at.w >= c->width &&
                 at.y + at.h >= c->height;

    if (c->clipped)
        str_puts(c->out, "</g>\n");
    c->clipped = !whole;
    if (whole)
        return;
    str_printf(c->out, "<clipPath id=\"c%u\">", ++c->n_clips);
    rect(c, at);
    str_printf(c->out, "/></clipPath>\n<g clip-path=\"url(#c%u)\">\n",
               c->n_clips);
}

static const cv_ops svg_ops = {svg_fill, svg_line, svg_text, svg_clip};

void cv_svg(cv_canvas *c, cv_font_set *fonts, double width, double height,
            str *out)
{
    static const char *const patterns[CV_N_PATTERNS] = {
        [CV_SLASH] = "M0,6L6,0",
        [CV_BACKSLASH] = "M0,0L6,6",
        [CV_DOTS] = "M1,1h1M4,4h1",
        [CV_DASHES] = "M0,1h6M0,4h6"};

    *c = (cv_canvas){.ops = &svg_ops,
                     .fonts = fonts,
                     .out = out,
                     .width = width,
                     .height = height,
                     .scale = 1};
    str_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    number(out, "width", width);
    number(out, "height", height);
    str_puts(out, " font-family=\"DejaVu Sans,Verdana,sans-serif\" "
                  "shape-rendering=\"crispEdges\">\n<defs>\n");
    for (int i = 1; i < CV_N_PATTERNS; i++)
        str_printf(out,
                   "<pattern id=\"p%d\" width=\"6\" height=\"6\" "
                   "patternUnits=\"userSpaceOnUse\"><path d=\"%s\" "
                   "stroke=\"#000\" stroke-opacity=\"0.3\" fill=\"none\"/>"
                   "</pattern>\n",
                   i, patterns[i]);
    str_puts(out, "</defs>\n");
}

void cv_svg_end(cv_canvas *c)
{
    cv_unclip(c);
    str_puts(c->out, "</svg>\n");
}
