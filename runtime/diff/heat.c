/* Pictures of differences; see report.h. */
#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/late.h"
#include "runtime/diff/report.h"

/* The picture of one plane, and how planes lie: as near to a square as whole
 * planes allow. */
typedef struct {
    uint64_t width, height, planes, columns, rows;
    uint64_t scale; /* elements per pixel, each way */
} layout;

static layout lay_out(const tensor_desc *d)
{
    layout l = {.width = 1, .height = 1, .planes = 1};
    uint64_t w, h;

    if (d->rank > 0)
        l.width = d->dims[d->rank - 1];
    if (d->rank > 1)
        l.height = d->dims[d->rank - 2];
    for (uint32_t k = 0; k + 2 < d->rank; k++)
        l.planes *= d->dims[k];
    l.columns = 1;
    while (l.columns < l.planes &&
           l.columns * l.width <
               (l.planes + l.columns - 1) / l.columns * l.height)
        l.columns++;
    l.rows = (l.planes + l.columns - 1) / l.columns;
    w = l.columns * l.width;
    h = l.rows * l.height;
    l.scale = ((w > h ? w : h) + HEAT_SIDE - 1) / HEAT_SIDE;
    return l;
}

/* 0 = equal … 64 = every bit; 65: a NaN against something else. */
static uint8_t heat_of(tensor_dtype t, const uint8_t *a, const uint8_t *b)
{
    bool nan;
    uint64_t ulp = diff_ulp(t, a, b, &nan);

    return nan ? 65 : (uint8_t)(ulp ? 64 - __builtin_clzll(ulp) : 0);
}

typedef struct {
    const tensor_desc *d;
    const uint8_t *a, *b;
    layout l;
    uint8_t *heat;
    uint64_t w, h;
} picture;

static void add_heat(picture *p, uint64_t index)
{
    uint32_t bytes = tensor_dtype_bytes(p->d->dtype);
    uint32_t at[TENSOR_MAX_RANK];
    uint64_t plane = 0, x = 0, y = 0;
    uint8_t *pixel, heat;

    diff_unravel(p->d, index, at);
    for (uint32_t k = 0; k + 2 < p->d->rank; k++)
        plane = plane * p->d->dims[k] + at[k];
    x = p->d->rank > 0 ? at[p->d->rank - 1] : 0;
    y = p->d->rank > 1 ? at[p->d->rank - 2] : 0;
    x = (plane % p->l.columns * p->l.width + x) / p->l.scale;
    y = (plane / p->l.columns * p->l.height + y) / p->l.scale;
    heat = heat_of(p->d->dtype, p->a + index * bytes, p->b + index * bytes);
    pixel = &p->heat[y * p->w + x];
    if (*pixel < heat)
        *pixel = heat;
}

static void on_block(void *user, uint64_t first, uint32_t n,
                     const uint8_t *different)
{
    for (uint32_t k = 0; k < n; k++)
        if (different[k])
            add_heat(user, first + k);
}

/* Dark blue, then blue, green, yellow, red; white. */
static void palette(png_color *colors, unsigned top)
{
    colors[0] = (png_color){16, 16, 48};
    for (unsigned k = 1; k <= 64; k++) {
        double t = top > 1 ? (double)(k - 1) / (double)(top - 1) : 1;

        t = t > 1 ? 1 : t;
        colors[k] =
            (png_color){(png_byte)(255 * fmin(1, 2 * t)),
                        (png_byte)(255 * (t < 0.5 ? 0.4 + 1.2 * t : 2 - 2 * t)),
                        (png_byte)(255 * fmax(0, 1 - 2 * t))};
    }
    colors[65] = (png_color){255, 255, 255};
}

static bool write_png(FILE *f, const picture *p, unsigned top)
{
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    png_color colors[66];
    bool ok = false;

    palette(colors, top);
    if (info && !setjmp(png_jmpbuf(png))) {
        png_init_io(png, f);
        png_set_IHDR(png, info, (png_uint_32)p->w, (png_uint_32)p->h, 8,
                     PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
                     PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        png_set_PLTE(png, info, colors, 66);
        png_write_info(png, info);
        for (uint64_t y = 0; y < p->h; y++)
            png_write_row(png, p->heat + y * p->w);
        png_write_end(png, info);
        ok = true;
    }
    png_destroy_write_struct(&png, &info);
    return ok;
}

vpu_status diff_heat_map(const char *path, const diff_pair *pair,
                         vpu_error *err)
{
    static const diff_tolerance exact = {0};
    picture p = {
        .d = pair->desc, .a = pair->a, .b = pair->b, .l = lay_out(pair->desc)};
    diff_watch watch = {on_block, &p};
    diff_result all;
    file_out out = {0};
    vpu_status st = late_need("libpng", err);
    unsigned top;

    if (st)
        return st;
    p.w = (p.l.columns * p.l.width + p.l.scale - 1) / p.l.scale;
    p.h = (p.l.rows * p.l.height + p.l.scale - 1) / p.l.scale;
    p.heat = calloc(p.w, p.h);
    if (!p.heat)
        return err_set(err, VPU_ERR_NOMEM,
                       "no memory for a picture of %llux"
                       "%llu",
                       (unsigned long long)p.w, (unsigned long long)p.h);
    st = diff_compare(pair, &exact, &watch, &all, err);
    top = DIFF_ULP_CLASSES - 1;
    while (top > 1 && !all.ulp_classes[top])
        top--;
    if (!st)
        st = file_out_open(&out, path, err);
    if (!st && !write_png(out.stream, &p, top))
        st =
            err_set(err, VPU_ERR_IO, "%s: the picture cannot be written", path);
    if (!st)
        st = file_out_commit(&out, err);
    else
        file_out_abandon(&out);
    free(p.heat);
    return st;
}
