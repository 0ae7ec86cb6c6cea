/* The canvas of pixels, and PNG files of it. */
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/late.h"
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

/* A line's pixels from x0 to x1: ink on `unit` of every `period`, `at` of which
 * lie before x0. */
static void fill_strokes(uint32_t *row, int x0, int x1, const filling *f,
                         int period, int at)
{
    for (int i = x0; i < x1; i++) {
        row[i] = at < f->unit ? f->ink : f->color;
        at = at + 1 == period ? 0 : at + 1;
    }
}

static void fill_plain(uint32_t *row, int x0, int x1, uint32_t color)
{
    for (int i = x0; i < x1; i++)
        row[i] = color;
}

typedef struct {
    int x0, y0, x1, y1; /* device pixels */
} pixel_box;

static uint32_t *line_of(cv_canvas *c, int y)
{
    return c->to.px + (size_t)y * (size_t)c->to.stride;
}

/* The place in the pattern is kept from line to line: boxes are often a pixel
 * wide, and a division for each of them is what takes the time. */
static void fill_patterned(cv_canvas *c, const pixel_box *b, const filling *f)
{
    bool slash = f->pattern == CV_SLASH, back = f->pattern == CV_BACKSLASH;
    int period = (slash || back ? 6 : 4) * f->unit;
    int right = b->x0 % period, down = b->y0 % period;

    for (int y = b->y0; y < b->y1; y++) {
        int at = slash  ? right + down
                 : back ? right + period - 1 - down
                        : right;
        uint32_t *row = line_of(c, y);

        at -= at >= period ? period : 0;
        if (slash || back || (down < f->unit && f->pattern == CV_DOTS))
            fill_strokes(row, b->x0, b->x1, f, period, at);
        else
            fill_plain(row, b->x0, b->x1, down < f->unit ? f->ink : f->color);
        down = down + 1 == period ? 0 : down + 1;
    }
}

/* Wide lines are copied from the first one. */
static void fill_solid(cv_canvas *c, const pixel_box *b, uint32_t color)
{
    enum { WIDE = 16 };
    int w = b->x1 - b->x0;

    for (int y = b->y0; y < b->y1; y++)
        if (y == b->y0 || w < WIDE)
            fill_plain(line_of(c, y), b->x0, b->x1, color);
        else
            memcpy(line_of(c, y) + b->x0, line_of(c, b->y0) + b->x0,
                   (size_t)w * sizeof color);
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
    pixel_box b = {(int)floor(at.x * c->scale + 0.5),
                   (int)floor(at.y * c->scale + 0.5),
                   (int)floor((at.x + at.w) * c->scale + 0.5),
                   (int)floor((at.y + at.h) * c->scale + 0.5)};
    uint32_t a = color >> 24;

    b.x0 = b.x0 < c->cx0 ? c->cx0 : b.x0;
    b.y0 = b.y0 < c->cy0 ? c->cy0 : b.y0;
    b.x1 = b.x1 > c->cx1 ? c->cx1 : b.x1;
    b.y1 = b.y1 > c->cy1 ? c->cy1 : b.y1;
    if (b.x0 >= b.x1)
        return;
    if (a == 255 && !pattern)
        fill_solid(c, &b, color);
    else if (a == 255)
        fill_patterned(
            c, &b,
            &(const filling){color, ink_of(color), pattern,
                             c->scale < 1.5 ? 1 : (int)(c->scale + 0.5)});
    else
        for (int y = b.y0; y < b.y1; y++)
            for (int i = b.x0; i < b.x1; i++)
                line_of(c, y)[i] = blend(line_of(c, y)[i], color, a);
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
    vpu_status st = late_need("libpng", err);

    if (st || !bytes) {
        free(bytes);
        return st ? st
                  : err_set(err, VPU_ERR_NOMEM, "%s: no memory for a picture",
                            path);
    }
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
