/* The heat map as a PNG. Stored, not deflated: the bytes then do not depend on
 * the version of zlib. */
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/diff/report.h"
#include "sim/base/file.h"

enum { COLOURS = 256, WANTED = 256, MAX_SCALE = 16 };

/* 0 is grey; then from yellow over red to dark red. */
static void palette(png_color *p)
{
    p[0] = (png_color){64, 64, 64};
    for (int i = 1; i < COLOURS; i++)
        p[i] = (png_color){(png_byte)(i < 192 ? 255 : 255 - (i - 192) * 2),
                           (png_byte)(i < 192 ? 255 - i * 255 / 192 : 0), 0};
}

/* The share of a cell's elements that differ; some is never none. */
static png_byte colour(const diff_heat *h, uint32_t x, uint32_t y)
{
    uint64_t left = h->columns - (uint64_t)x * h->cell_w;
    uint64_t below = h->rows - (uint64_t)y * h->cell_h;
    uint64_t n = (left < h->cell_w ? left : h->cell_w) *
                 (below < h->cell_h ? below : h->cell_h);
    uint64_t failed = h->failed[(size_t)y * h->width + x];

    return (png_byte)(failed ? 1 + failed * (COLOURS - 2) / n : 0);
}

static uint32_t scale_of(const diff_heat *h)
{
    uint32_t most = h->width > h->height ? h->width : h->height;
    uint32_t scale = WANTED / most;

    return scale < 1 ? 1 : scale > MAX_SCALE ? MAX_SCALE : scale;
}

static void picture(FILE *f, png_structp png, png_infop info,
                    const diff_heat *h, png_byte *row)
{
    const uint32_t scale = scale_of(h);
    png_color colours[COLOURS];

    palette(colours);
    png_init_io(png, f);
    png_set_IHDR(png, info, h->width * scale, h->height * scale, 8,
                 PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_PLTE(png, info, colours, COLOURS);
    png_set_compression_level(png, 0);
    png_set_filter(png, 0, PNG_FILTER_NONE);
    png_write_info(png, info);
    for (uint32_t y = 0; y < h->height * scale; y++) {
        for (uint32_t x = 0; x < h->width * scale; x++)
            row[x] = colour(h, x / scale, y / scale);
        png_write_row(png, row);
    }
    png_write_end(png, NULL);
}

/* libpng jumps here when a write fails; picture allocates nothing. */
static bool put(FILE *f, png_structp png, png_infop info, const diff_heat *h,
                png_byte *row)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    picture(f, png, info, h, row);
    return true;
}

static void give_up(png_structp png, png_const_charp message)
{
    (void)message;
    png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

vpu_status diff_heat_write(const char *path, const diff_tensor *t,
                           vpu_error *err)
{
    const diff_heat *h = &t->places.heat;
    png_structp png;
    png_infop info = NULL;
    png_byte *row;
    file_out out;
    vpu_status st;
    bool ok;

    if (!h->failed)
        return err_set(err, VPU_ERR_INVALID,
                       "%s: no places of '%s' were counted", path, t->name);
    st = file_out_open(&out, path, err);
    if (st)
        return st;
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, give_up, ignore);
    row = malloc((size_t)h->width * MAX_SCALE);
    if (png)
        info = png_create_info_struct(png);
    ok = row && info && put(out.f, png, info, h, row);
    png_destroy_write_struct(&png, &info);
    free(row);
    if (ok)
        return file_out_commit(&out, err);
    file_out_abandon(&out);
    return err_set(err, VPU_ERR_IO, "%s: the picture cannot be written", path);
}
