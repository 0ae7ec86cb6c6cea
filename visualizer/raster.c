/* The canvas of pixels, and PNG files of it. */
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "visualizer/canvas.h"
#include "visualizer/font.h"

static uint32_t blend(uint32_t under, uint32_t over, uint32_t a)
{
    uint32_t r =
        (((over >> 16 & 255) * a) + ((under >> 16 & 255) * (255 - a))) / 255;
    uint32_t g =
        (((over >> 8 & 255) * a) + ((under >> 8 & 255) * (255 - a))) / 255;
    uint32_t b = (((over & 255) * a) + ((under & 255) * (255 - a))) / 255;

    return 0xff000000 | r << 16 | g << 8 | b;
}

/* What a box is filled with: a colour, and a pattern in ink over it, whose
 * strokes are `unit` device pixels wide. */
typedef struct {
    uint32_t color, ink;
    cv_pattern pattern;
    int unit;
} filling;

/* A pattern on one line: ink on `unit` pixels of every `period`, where
 * (x + shift) % period begins a stroke; period 1 = all, 0 = none. */
static void pattern_line(const filling *f, int y, int *period, int *shift)
{
    cv_pattern p = f->pattern;
    int unit = f->unit;
    bool on = y % (4 * unit) < unit;

    *shift = 0;
    *period = 0;
    if (p == CV_SLASH || p == CV_BACKSLASH) {
        *period = 6 * unit;
        *shift = p == CV_SLASH ? y % *period : *period - 1 - y % *period;
    } else if (p == CV_DOTS && on) {
        *period = 4 * unit;
    } else if (p == CV_DASHES && on) {
        *period = 1;
    }
}

/* `row` is the line y; its pixels from x0 to x1 are filled. */
static void fill_line(uint32_t *row, int y, int x0, int x1, const filling *f)
{
    uint32_t color = f->color, ink = f->ink;
    int period, shift, at, unit = f->unit;

    pattern_line(f, y, &period, &shift);
    if (period <= 1) {
        for (int i = x0; i < x1; i++)
            row[i] = period ? ink : color;
        return;
    }
    at = (x0 + shift) % period;
    for (int i = x0; i < x1; i++) {
        row[i] = at < unit ? ink : color;
        at = at + 1 == period ? 0 : at + 1;
    }
}

/* Ink darkens bright colours and lightens dark ones. */
static uint32_t ink_of(uint32_t color)
{
    uint32_t light =
        (color >> 16 & 255) * 3 + (color >> 8 & 255) * 6 + (color & 255);

    return light > 1100 ? blend(color, 0xff000000, 38)
                        : blend(color, 0xffffffff, 60);
}

static void raster_fill(cv_canvas *c, cv_box at, cv_color color,
                        cv_pattern pattern)
{
    int x0 = (int)floor(at.x * c->scale + 0.5);
    int y0 = (int)floor(at.y * c->scale + 0.5);
    int x1 = (int)floor((at.x + at.w) * c->scale + 0.5);
    int y1 = (int)floor((at.y + at.h) * c->scale + 0.5);
    uint32_t a = color >> 24;
    filling patterned = {.color = color,
                         .ink = pattern ? ink_of(color) : 0,
                         .pattern = pattern,
                         .unit = c->scale < 1.5 ? 1 : (int)(c->scale + 0.5)};

    x0 = x0 < c->cx0 ? c->cx0 : x0;
    y0 = y0 < c->cy0 ? c->cy0 : y0;
    x1 = x1 > c->cx1 ? c->cx1 : x1;
    y1 = y1 > c->cy1 ? c->cy1 : y1;
    for (; y0 < y1; y0++) {
        uint32_t *row = c->to.px + (size_t)y0 * (size_t)c->to.stride;

        if (a == 255 && !pattern)
            for (int i = x0; i < x1; i++)
                row[i] = color;
        else if (a == 255)
            fill_line(row, y0, x0, x1, &patterned);
        else
            for (int i = x0; i < x1; i++)
                row[i] = blend(row[i], color, a);
    }
}

static void raster_line(cv_canvas *c, double x0, double y0, double x1,
                        double y1, cv_color color)
{
    double dx = (x1 - x0) * c->scale, dy = (y1 - y0) * c->scale;
    int n = (int)ceil(fmax(fabs(dx), fabs(dy)));
    int wide = c->scale < 1.5 ? 1 : (int)(c->scale + 0.5);

    if (n > 100000)
        return;
    for (int i = 0; i <= n; i++) {
        double t = n ? (double)i / n : 0;
        int px = (int)floor(x0 * c->scale + dx * t);
        int py = (int)floor(y0 * c->scale + dy * t);

        for (int ky = 0; ky < wide; ky++)
            for (int kx = 0; kx < wide; kx++)
                if (px + kx >= c->cx0 && px + kx < c->cx1 &&
                    py + ky >= c->cy0 && py + ky < c->cy1) {
                    uint32_t *p =
                        &c->to.px[(size_t)(py + ky) * (size_t)c->to.stride +
                                  (size_t)(px + kx)];
                    *p = blend(*p, color, color >> 24);
                }
    }
}

static void draw_glyph(cv_canvas *c, const font_glyph *g, int x, int y,
                       cv_color color)
{
    for (int j = 0; j < g->h; j++) {
        uint32_t *row;

        if (y + j < c->cy0 || y + j >= c->cy1)
            continue;
        row = c->to.px + (size_t)(y + j) * (size_t)c->to.stride;
        for (int i = 0; i < g->w; i++) {
            uint32_t a = g->alpha[j * g->w + i] * (color >> 24) / 255;

            if (a && x + i >= c->cx0 && x + i < c->cx1)
                row[x + i] = blend(row[x + i], color, a);
        }
    }
}

static void raster_text(cv_canvas *c, double x, double y, cv_font font,
                        cv_color color, const char *text)
{
    int px = (int)floor(x * c->scale + 0.5);
    int py = (int)floor(y * c->scale - font_height(c->fonts, font) / 2.0 + 0.5);

    while (*text) {
        const font_glyph *g = font_get(c->fonts, font, font_decode(&text));

        draw_glyph(c, g, px + g->left, py, color);
        px += g->advance;
    }
}

static void raster_clip(cv_canvas *c, cv_box at)
{
    double s = c->scale;

    c->cx0 = (int)fmax(0, floor(at.x * s + 0.5));
    c->cy0 = (int)fmax(0, floor(at.y * s + 0.5));
    c->cx1 = (int)fmin(c->to.w, floor((at.x + at.w) * s + 0.5));
    c->cy1 = (int)fmin(c->to.h, floor((at.y + at.h) * s + 0.5));
}

static const cv_ops raster_ops = {raster_fill, raster_line, raster_text,
                                  raster_clip};

void cv_raster(cv_canvas *c, cv_font_set *fonts, const cv_pixels *to,
               double scale)
{
    *c = (cv_canvas){.ops = &raster_ops,
                     .fonts = fonts,
                     .to = *to,
                     .cx1 = to->w,
                     .cy1 = to->h,
                     .width = to->w / scale,
                     .height = to->h / scale,
                     .scale = scale};
}

vpu_status cv_write_png(const cv_canvas *c, const char *path, vpu_error *err)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (uint32_t)c->to.w,
                       .height = (uint32_t)c->to.h,
                       .format = PNG_FORMAT_BGR};
    uint8_t *bytes = malloc((size_t)c->to.w * (size_t)c->to.h * 3);
    file_out out;
    vpu_status st;

    if (!bytes)
        return err_set(err, VPU_ERR_NOMEM, "%s: no memory for a picture", path);
    for (int y = 0; y < c->to.h; y++)
        for (int x = 0; x < c->to.w; x++) {
            uint32_t p = c->to.px[(size_t)y * (size_t)c->to.stride + (size_t)x];
            uint8_t *to = &bytes[((size_t)y * (size_t)c->to.w + (size_t)x) * 3];

            to[0] = (uint8_t)p;
            to[1] = (uint8_t)(p >> 8);
            to[2] = (uint8_t)(p >> 16);
        }
    if (!(st = file_out_open(&out, path, err))) {
        if (!png_image_write_to_stdio(&image, out.stream, 0, bytes, 0, NULL))
            st = err_set(err, VPU_ERR_IO, "%s: %s", path, image.message);
        else
            st = file_out_commit(&out, err);
        file_out_abandon(&out);
    }
    png_image_free(&image);
    free(bytes);
    return st;
}
