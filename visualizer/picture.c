/* Lays out one trace, or two above each other with a banner, and paints them
 * on a canvas of pixels or of SVG. */
#include "visualizer/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { BANNER = 34 };

typedef struct {
    paint_page pages[2];
    int n;
    double width, height;
} sheet;

static void paint_banner(cv_canvas *c, const sheet *s)
{
    const theme *colors = s->pages[0].colors;
    char text[512];

    cv_fill(c, (cv_box){0, 0, s->width, BANNER}, colors->panel);
    compare_headline(s->pages[0].cmp, s->pages[0].title, s->pages[1].title,
                     text, sizeof text - 32);
    strcat(text, ", on the same scale of time:");
    cv_text(c, 12, BANNER / 2.0, CV_BOLD, colors->text, text);
}

static void paint_sheet(cv_canvas *c, const sheet *s)
{
    cv_fill(c, (cv_box){0, 0, s->width, s->height}, s->pages[0].colors->page);
    if (s->n == 2)
        paint_banner(c, s);
    for (int i = 0; i < s->n; i++)
        paint(c, &s->pages[i]);
}

static void arrange(sheet *s, const picture_options *o)
{
    double top = s->n == 2 ? BANNER : 0, need = top;
    double heights[2] = {0};

    for (int i = 0; i < s->n; i++)
        need += heights[i] = paint_height(&s->pages[i]);
    if (s->n == 1 && need < 420) /* room for the panel's numbers */
        need = heights[0] = 420;
    s->width = o->width ? o->width : 1600;
    s->height = o->height ? o->height : ceil(need);
    for (int i = 0; i < s->n; i++) {
        double h = heights[i];

        if (o->height)
            h = (s->height - (s->n == 2 ? BANNER : 0)) * heights[i] /
                (heights[0] + heights[1]);
        s->pages[i].area = (cv_box){0, top, s->width, h};
        top += h;
    }
}

static vpu_status write_png(const picture_options *o, const sheet *s,
                            double scale, vpu_error *err)
{
    int pw = (int)ceil(s->width * scale), ph = (int)ceil(s->height * scale);
    uint32_t *px = calloc((size_t)pw * (size_t)ph, sizeof *px);
    cv_font_set *fonts = NULL;
    vpu_status st;
    cv_canvas c;

    if (!px)
        return err_set(err, VPU_ERR_NOMEM, "%s: no memory for %d x %d pixels",
                       o->png, pw, ph);
    st = cv_fonts_open(scale, &fonts, err);
    if (!st) {
        cv_raster(&c, fonts, &(const cv_pixels){px, pw, ph, pw}, scale);
        paint_sheet(&c, s);
        st = cv_write_png(&c, o->png, err);
    }
    cv_fonts_close(fonts);
    free(px);
    return st;
}

static vpu_status write_svg(const picture_options *o, const sheet *s,
                            vpu_error *err)
{
    cv_font_set *fonts = NULL;
    str out = {0};
    vpu_status st = cv_fonts_open(1, &fonts, err);
    cv_canvas c;

    if (!st) {
        cv_svg(&c, fonts, s->width, s->height, &out);
        paint_sheet(&c, s);
        cv_svg_end(&c);
        st = file_write(o->svg, str_text(&out), out.n, err);
    }
    str_free(&out);
    cv_fonts_close(fonts);
    return st;
}

vpu_status picture_write(const picture_options *o, const view *a,
                         const char *title_a, const view *b,
                         const char *title_b, vpu_error *err)
{
    const theme *colors = o->colors ? o->colors : &theme_light;
    double scale = o->scale != 0 ? o->scale : 1;
    bool both = b && o->mode == COMPARE_BOTH;
    sheet s = {.n = both ? 2 : 1};
    table slices[2] = {0};
    vpu_status st = VPU_OK;

    for (int i = 0; i < s.n; i++) {
        int side = both ? i : b && o->mode == COMPARE_B;

        s.pages[i] = (paint_page){.view = side ? b : a,
                                  .cmp = b ? o->cmp : NULL,
                                  .side = side,
                                  .colors = colors,
                                  .title = side ? title_b : title_a,
                                  .beside = b ? (side ? a : b)->tl : NULL,
                                  .shows = paint_shows(o->panel, both, side),
                                  .slices = &slices[i],
                                  .panel = true};
        if (b && o->cmp && o->mode == COMPARE_OVERLAY)
            s.pages[i].under = b;
    }
    arrange(&s, o);
    if (!(scale >= 0.5 && scale <= 4))
        return err_set(err, VPU_ERR_INVALID,
                       "a picture's scale is 0.5 to 4, not %g", scale);
    if (s.width * scale > PICTURE_MAX_SIDE ||
        s.height * scale > PICTURE_MAX_SIDE || s.width < 200 || s.height < 100)
        return err_set(
            err, VPU_ERR_INVALID,
            "a picture of %.0f x %.0f pixels: at least 200 x 100, at "
            "most %d a side",
            s.width * scale, s.height * scale, PICTURE_MAX_SIDE);
    for (int i = 0; !st && o->panel == PANEL_SLICES && i < s.n; i++)
        st = table_make(&slices[i], s.pages[i].view, &o->slices, err);
    if (!st && o->png)
        st = write_png(o, &s, scale, err);
    if (!st && o->svg)
        st = write_svg(o, &s, err);
    for (int i = 0; i < s.n; i++)
        table_clear(&slices[i]);
    return st;
}
