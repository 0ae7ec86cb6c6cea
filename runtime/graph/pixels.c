/* A picture is looked at first, as far as its size and channels; what fits the
 * input is decoded into bytes, channels innermost, and then made values. A byte
 * has 256 of them for each channel, which are computed once. */
#include "runtime/graph/pixels.h"

#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#include "base/arena.h"
#include "base/late.h"
#include "base/str.h"

/* --- options ------------------------------------------------------------- */

static const char expected[] =
    "expected mean=M or mean=M,M,M, scale=S or scale=S,S,S, order=rgb or "
    "order=bgr, alpha=drop, grey=repeat, with commas between them";

/* Where further numbers go. */
typedef struct {
    float *numbers; /* of the option being read; NULL: it has none */
    unsigned *n;
    bool seen[5];
    vpu_error *err;
} option_reader;

static vpu_status bad_option(const option_reader *r, const char *word,
                             const char *what)
{
    return err_set(r->err, VPU_ERR_INVALID, "picture option '%s': %s; %s", word,
                   what, expected);
}

static vpu_status take_number(const option_reader *r, const char *word,
                              const char *text)
{
    double v;

    if (!r->numbers)
        return bad_option(r, word, "no such option");
    if (*r->n == PIXELS_MAX_CHANNELS)
        return bad_option(r, word, "a fourth number");
    if (!str_to_f64(text, &v) || !isfinite((float)v))
        return bad_option(r, word, "not a number");
    r->numbers[(*r->n)++] = (float)v;
    return VPU_OK;
}

/* word: "NAME=VALUE", value behind the '='. */
static vpu_status take_option(option_reader *r, pixels_options *o,
                              const char *word, const char *value)
{
    static const struct {
        const char *name, *on, *off;
    } rows[5] = {{"mean", NULL, NULL},
                 {"scale", NULL, NULL},
                 {"order", "bgr", "rgb"},
                 {"alpha", "drop", NULL},
                 {"grey", "repeat", NULL}};
    bool *const switches[5] = {NULL, NULL, &o->bgr, &o->drop_alpha,
                               &o->repeat_grey};
    size_t n = (size_t)(value - word) - 1, i = 0;

    while (i < 5 &&
           (strlen(rows[i].name) != n || memcmp(rows[i].name, word, n)))
        i++;
    if (i == 5)
        return bad_option(r, word, "no such option");
    if (r->seen[i])
        return bad_option(r, word, "given twice");
    r->seen[i] = true;
    r->numbers = i == 0 ? o->mean : i == 1 ? o->scale : NULL;
    r->n = i == 0 ? &o->n_mean : &o->n_scale;
    if (r->numbers)
        return take_number(r, word, value);
    *switches[i] = !strcmp(value, rows[i].on);
    if (*switches[i] || (rows[i].off && !strcmp(value, rows[i].off)))
        return VPU_OK;
    return bad_option(r, word, "no such value");
}

/* What is not said, and one number for all. */
static vpu_status fill_up(const option_reader *r, float *numbers, unsigned n,
                          const char *name, float otherwise)
{
    if (n == 2)
        return bad_option(r, name, "two numbers; one or three are possible");
    for (unsigned i = n; i < PIXELS_MAX_CHANNELS; i++)
        numbers[i] = n ? numbers[0] : otherwise;
    return VPU_OK;
}

vpu_status pixels_options_parse(const char *text, pixels_options *out,
                                vpu_error *err)
{
    option_reader r = {.err = err};
    arena *a = arena_create(0);
    char *next = text ? arena_strdup(a, text) : NULL, *word;
    vpu_status st = VPU_OK;

    *out = (pixels_options){0};
    while (!st && (word = strsep(&next, ","))) {
        char *eq = strchr(word, '=');

        st = eq ? take_option(&r, out, word, eq + 1)
                : take_number(&r, word, word);
    }
    if (!st)
        st = fill_up(&r, out->mean, out->n_mean, "mean", 0);
    if (!st)
        st = fill_up(&r, out->scale, out->n_scale, "scale", 1);
    for (unsigned i = 0; i < PIXELS_MAX_CHANNELS && !st; i++)
        if (out->scale[i] == 0)
            st = bad_option(&r, "scale", "0, which nothing can be divided by");
    arena_destroy(a);
    return st;
}

/* --- does it fit? -------------------------------------------------------- */

typedef struct {
    const file_bytes *f;
    const pixels_options *o;
    const tensor_desc *want;
    const char *name;
    vpu_error *err;
    uint32_t w, h, c; /* of the input */
    uint32_t decoded; /* channels of the picture: 1 or 3 */
    uint8_t *bytes;   /* w * h * decoded */
} job;

static vpu_status wrong(const job *j, vpu_status st, const char *what)
{
    arena *a = arena_create(0);

    err_set(j->err, st, "%s: input %s is %s; %s", j->f->path, j->name,
            tensor_desc_text(a, j->want), what);
    arena_destroy(a);
    return st;
}

static vpu_status check_input(job *j)
{
    const tensor_desc *d = j->want;

    if (d->dtype != TENSOR_U8 && d->dtype != TENSOR_F16 &&
        d->dtype != TENSOR_F32)
        return wrong(j, VPU_ERR_INVALID,
                     "a picture becomes u8, f16 or f32; give a .npy file");
    if (d->rank < 2 || d->rank > 4)
        return wrong(j, VPU_ERR_INVALID,
                     "a picture has the dims NCHW, CHW or HW");
    if (d->rank == 4 && d->dims[0] != 1)
        return wrong(j, VPU_ERR_INVALID,
                     "one picture is a batch of 1; give a .npy file");
    j->w = d->dims[d->rank - 1];
    j->h = d->dims[d->rank - 2];
    j->c = d->rank > 2 ? d->dims[d->rank - 3] : 1;
    if (j->c != 1 && j->c != 3)
        return wrong(j, VPU_ERR_MISMATCH,
                     "a picture has 1 or 3 channels, the dim before height "
                     "and width");
    if ((j->o->n_mean > 1 || j->o->n_scale > 1 || j->o->bgr) && j->c == 1)
        return wrong(j, VPU_ERR_INVALID,
                     "its one channel has no order, and one mean and scale");
    return VPU_OK;
}

/* What the file's head tells. */
static vpu_status check_picture(job *j, uint32_t w, uint32_t h,
                                uint32_t channels, bool alpha)
{
    arena *a;

    if (w != j->w || h != j->h) {
        a = arena_create(0);
        err_set(j->err, VPU_ERR_MISMATCH,
                "%s: the picture is %u wide and %u high, input %s, %s, is %u "
                "wide and %u high; give the input that shape, or resize the "
                "picture first",
                j->f->path, w, h, j->name, tensor_desc_text(a, j->want), j->w,
                j->h);
        arena_destroy(a);
        return VPU_ERR_MISMATCH;
    }
    if ((uint64_t)w * h > PIXELS_MAX)
        return err_set(j->err, VPU_ERR_LIMIT,
                       "%s: %u x %u pixels, the limit is %llu of them",
                       j->f->path, w, h, (unsigned long long)PIXELS_MAX);
    if (alpha && !j->o->drop_alpha)
        return err_set(j->err, VPU_ERR_UNSUPPORTED,
                       "%s: the picture has transparency; put alpha=drop "
                       "behind the file to do without, or save it without",
                       j->f->path);
    if (channels == 3 && j->c == 1)
        return wrong(j, VPU_ERR_MISMATCH,
                     "the picture has 3 channels; save it as a grey one");
    if (channels == 1 && j->c == 3 && !j->o->repeat_grey)
        return wrong(j, VPU_ERR_MISMATCH,
                     "the picture is grey; put grey=repeat behind the file "
                     "to have it in all channels");
    j->decoded = channels;
    j->bytes = malloc((size_t)w * h * channels);
    if (!j->bytes)
        return err_set(j->err, VPU_ERR_NOMEM,
                       "%s: no memory for %u x %u pixels", j->f->path, w, h);
    return VPU_OK;
}

/* --- PNG ----------------------------------------------------------------- */

typedef struct {
    job *j;
    size_t at;
    png_structp png;
    png_infop info;
    vpu_status st;
    jmp_buf out; /* libpng must not return from its errors */
} png_job;

static void png_give(png_structp png, png_bytep out, size_t n)
{
    png_job *p = png_get_io_ptr(png);

    if (n > p->j->f->n - p->at)
        png_error(png, "the file ends early");
    memcpy(out, (const char *)p->j->f->data + p->at, n);
    p->at += n;
}

static void png_fail(png_structp png, png_const_charp why)
{
    png_job *p = png_get_error_ptr(png);

    p->st = err_set(p->j->err, VPU_ERR_PARSE, "%s: damaged PNG picture: %s",
                    p->j->f->path, why);
    longjmp(p->out, 1);
}

static void png_hear(png_structp png, png_const_charp why)
{
    (void)png;
    (void)why;
}

static void png_decode(png_job *p)
{
    enum { MAX_CHUNK = 8 << 20 }; /* of what stands beside the pixels */
    job *j = p->j;
    png_uint_32 w, h;
    int bits, type, interlace, n_passes;
    bool alpha;

    png_set_read_fn(p->png, p, png_give);
    png_set_user_limits(p->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(p->png, MAX_CHUNK);
    png_read_info(p->png, p->info);
    png_get_IHDR(p->png, p->info, &w, &h, &bits, &type, &interlace, NULL, NULL);
    alpha = type & PNG_COLOR_MASK_ALPHA ||
            png_get_valid(p->png, p->info, PNG_INFO_tRNS);
    p->st = check_picture(j, w, h, type & PNG_COLOR_MASK_COLOR ? 3 : 1, alpha);
    if (p->st)
        return;
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(p->png);
    else if (bits < 8)
        png_set_expand_gray_1_2_4_to_8(p->png);
    if (bits == 16)
        png_set_scale_16(p->png);
    if (alpha) /* also that of a palette, which would get a channel */
        png_set_strip_alpha(p->png);
    n_passes = png_set_interlace_handling(p->png);
    png_read_update_info(p->png, p->info);
    if (png_get_rowbytes(p->png, p->info) != (size_t)w * j->decoded)
        png_error(p->png, "rows of another length than expected");
    for (int pass = 0; pass < n_passes; pass++)
        for (size_t y = 0; y < h; y++)
            png_read_row(p->png, j->bytes + y * w * j->decoded, NULL);
    png_read_end(p->png, NULL);
}

/* Nothing here is changed once setjmp was called. */
static void png_guard(png_job *p)
{
    if (!setjmp(p->out))
        png_decode(p);
}

static vpu_status read_png(job *j)
{
    png_job p = {.j = j};
    vpu_status st = late_need("libpng", j->err);

    if (st)
        return st;
    p.png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &p, png_fail, png_hear);
    p.info = p.png ? png_create_info_struct(p.png) : NULL;
    if (!p.info)
        p.st = err_set(j->err, VPU_ERR_NOMEM, "%s: no memory for libpng",
                       j->f->path);
    else
        png_guard(&p);
    png_destroy_read_struct(&p.png, &p.info, NULL);
    return p.st;
}

/* --- JPEG ---------------------------------------------------------------- */

static vpu_status bad_jpeg(const job *j, tjhandle tj)
{
    return err_set(j->err, VPU_ERR_PARSE, "%s: damaged JPEG picture: %s",
                   j->f->path, tjGetErrorStr2(tj));
}

static vpu_status decode_jpeg(job *j, tjhandle tj)
{
    int w = 0, h = 0, sampling, colors = -1;
    vpu_status st;

    if (tjDecompressHeader3(tj, j->f->data, j->f->n, &w, &h, &sampling,
                            &colors))
        return bad_jpeg(j, tj);
    if (w < 1 || h < 1) /* as where it ends before the picture */
        return err_set(j->err, VPU_ERR_PARSE,
                       "%s: damaged JPEG picture: no picture is in it",
                       j->f->path);
    if (colors == TJCS_CMYK || colors == TJCS_YCCK)
        return err_set(j->err, VPU_ERR_UNSUPPORTED,
                       "%s: a JPEG picture in CMYK, the colours of printers; "
                       "save it in RGB",
                       j->f->path);
    st = check_picture(j, (uint32_t)w, (uint32_t)h, colors == TJCS_GRAY ? 1 : 3,
                       false);
    if (st)
        return st;
    /* The same bytes everywhere; what is not whole is an error; no thousands
     * of scans over one picture. */
    if (tjDecompress2(tj, j->f->data, j->f->n, j->bytes, w, w * (int)j->decoded,
                      h, j->decoded == 1 ? TJPF_GRAY : TJPF_RGB,
                      TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING |
                          TJFLAG_LIMITSCANS))
        return bad_jpeg(j, tj);
    return VPU_OK;
}

static vpu_status read_jpeg(job *j)
{
    vpu_status st = late_need("libturbojpeg", j->err);
    tjhandle tj = st ? NULL : tjInitDecompress();

    if (st)
        return st;
    if (!tj)
        return err_set(j->err, VPU_ERR_NOMEM, "%s: no memory for TurboJPEG",
                       j->f->path);
    st = decode_jpeg(j, tj);
    tjDestroy(tj);
    return st;
}

/* --- values -------------------------------------------------------------- */

/* One channel's value for each byte, and whether the type has it. */
typedef struct {
    float values[256];
    uint16_t halves[256];
    bool fits[256];
} table;

static void make_table(const job *j, unsigned channel, table *t)
{
    float mean = j->o->mean[channel], scale = j->o->scale[channel];

    for (int v = 0; v < 256; v++) {
        float f = ((float)v - mean) / scale;

        t->values[v] = f;
        t->halves[v] = tensor_f32_to_f16(f);
        if (j->want->dtype == TENSOR_U8)
            t->fits[v] = f >= 0 && f <= 255 && f == truncf(f);
        else if (j->want->dtype == TENSOR_F16)
            t->fits[v] = isfinite(tensor_f16_to_f32(t->halves[v]));
        else
            t->fits[v] = isfinite(f);
    }
}

static vpu_status store_channel(const job *j, unsigned channel, const table *t,
                                void *plain)
{
    size_t n = (size_t)j->w * j->h, first = n * channel;
    const uint8_t *from = j->bytes + (j->decoded == 1 ? 0
                                      : j->o->bgr     ? 2 - channel
                                                      : channel);

    for (size_t i = 0; i < n; i++) {
        uint8_t v = from[i * j->decoded];

        if (!t->fits[v])
            return err_set(j->err, VPU_ERR_INVALID,
                           "%s: pixel (%zu, %zu), channel %u: (%u - mean) / "
                           "scale is %.9g, which no element of input %s can "
                           "be: they are %s",
                           j->f->path, i % j->w, i / j->w, channel, v,
                           (double)t->values[v], j->name,
                           tensor_dtype_name(j->want->dtype));
        if (j->want->dtype == TENSOR_U8)
            ((uint8_t *)plain)[first + i] = (uint8_t)t->values[v];
        else if (j->want->dtype == TENSOR_F16)
            ((uint16_t *)plain)[first + i] = t->halves[v];
        else
            ((float *)plain)[first + i] = t->values[v];
    }
    return VPU_OK;
}

vpu_status pixels_parse(const file_bytes *f, pixels_kind kind,
                        const pixels_options *o, const tensor_desc *want,
                        const char *name, void *plain, vpu_error *err)
{
    job j = {.f = f, .o = o, .want = want, .name = name, .err = err};
    vpu_status st = check_input(&j);
    table t;

    if (!st)
        st = kind == PIXELS_PNG ? read_png(&j) : read_jpeg(&j);
    for (unsigned i = 0; i < j.c && !st; i++) {
        make_table(&j, i, &t);
        st = store_channel(&j, i, &t, plain);
    }
    free(j.bytes);
    return st;
}
