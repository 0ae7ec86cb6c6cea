/* See drawing.h. */
#include "visualizer/drawing.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/oom.h"

typedef struct {
    const cv_drawing *d;
    const char *path;
    cv_font_set *fonts;
    uint32_t *px;
    str svg;
} writing;

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), k = strlen(end);

    return n >= k && !strcmp(path + n - k, end);
}

vpu_status cv_drawing_check(const char *path, vpu_error *err)
{
    return ends_with(path, ".svg") || ends_with(path, ".png")
               ? VPU_OK
               : err_set(err, VPU_ERR_INVALID,
                         "%s: expected a name that ends with .svg or .png",
                         path);
}

static vpu_status write_png(writing *w, vpu_error *err)
{
    int width = (int)w->d->width, height = (int)w->d->height;
    size_t bytes = (size_t)width * (size_t)height * sizeof *w->px;
    cv_canvas to;

    w->px = oom_malloc(bytes);
    memset(w->px, 0, bytes);
    cv_raster(&to, w->fonts, &(const cv_pixels){w->px, width, height, width},
              1);
    w->d->draw(w->d->user, &to);
    return cv_write_png(&to, w->path, err);
}

static vpu_status write_svg(writing *w, vpu_error *err)
{
    cv_canvas to;

    cv_svg(&to, w->fonts, w->d->width, w->d->height, &w->svg);
    w->d->draw(w->d->user, &to);
    cv_svg_end(&to);
    return file_write(w->path, str_text(&w->svg), w->svg.n, err);
}

static vpu_status write(void *user, vpu_error *err)
{
    writing *w = user;
    vpu_status st = cv_drawing_check(w->path, err);

    if (!st)
        st = cv_fonts_open(1, &w->fonts, err);
    if (st)
        return st;
    return ends_with(w->path, ".svg") ? write_svg(w, err) : write_png(w, err);
}

static void end(void *user)
{
    writing *w = user;

    cv_fonts_close(w->fonts);
    free(w->px);
    str_free(&w->svg);
}

vpu_status cv_drawing_write(const cv_drawing *d, const char *path,
                            vpu_error *err)
{
    writing w = {.d = d, .path = path};

    return oom_finally(write, end, &w, err);
}
