/* Generated and loaded inputs, saved outputs. Values are made in logical order
 * and then moved to the buffer's layout. */
#include "runtime/graph/io.h"

#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/str.h"
#include "runtime/graph/npy.h"
#include "runtime/graph/npz.h"
#include "runtime/graph/pixels.h"

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Element i of a float or integer value; integers keep the low bits. */
static void store(tensor_dtype t, void *data, uint64_t i, float f, uint64_t v)
{
    switch (t) {
    case TENSOR_F16:
        ((uint16_t *)data)[i] = tensor_f32_to_f16(f);
        break;
    case TENSOR_F32:
        ((float *)data)[i] = f;
        break;
    case TENSOR_U8:
    case TENSOR_I8:
        ((uint8_t *)data)[i] = (uint8_t)v;
        break;
    case TENSOR_I16:
    case TENSOR_U16:
        ((uint16_t *)data)[i] = (uint16_t)v;
        break;
    case TENSOR_I64:
        ((uint64_t *)data)[i] = v;
        break;
    default:
        ((uint32_t *)data)[i] = (uint32_t)v;
    }
}

static void fill_ramp(const tensor_desc *d, void *data)
{
    uint64_t n = tensor_elements(d);

    for (uint64_t i = 0; i < n; i++)
        store(d->dtype, data, i, (float)(i % 256) / 256,
              i % 256 - (d->dtype == TENSOR_I8 ? 128 : 0));
}

static void fill_random(const tensor_desc *d, uint64_t state, void *data)
{
    uint64_t n = tensor_elements(d);
    uint32_t bits = 8 * tensor_dtype_bytes(d->dtype);

    for (uint64_t i = 0; i < n; i++) {
        uint64_t r = splitmix64(&state);

        store(d->dtype, data, i, (float)(r >> 40) * 0x1p-23f - 1,
              r >> (64 - bits));
    }
}

/* --- files --------------------------------------------------------------- */

static vpu_status check_desc(const graph_buffer *b, const char *path,
                             const tensor_desc *d, arena *a, vpu_error *err)
{
    if (d->dtype == b->desc.dtype && d->rank == b->desc.rank &&
        !memcmp(d->dims, b->desc.dims, d->rank * sizeof *d->dims))
        return VPU_OK;
    return err_set(err, VPU_ERR_MISMATCH, "%s: the file is %s, %s wants %s",
                   path, tensor_desc_text(a, d), b->name,
                   tensor_desc_text(a, &b->desc));
}

/* A file of a spec: its path, and what stands behind a colon; NULL = nothing.
 */
typedef struct {
    const graph_buffer *b;
    const char *path, *rest;
    arena *a;
    void **plain;
    vpu_error *err;
} source;

static vpu_status load_npy(const source *s)
{
    tensor t;
    vpu_status st = npy_read(s->path, s->a, &t, s->err);

    if (!st)
        st = check_desc(s->b, s->path, &t.desc, s->a, s->err);
    *s->plain = st ? NULL : t.data;
    return st;
}

static vpu_status load_npz(const source *s)
{
    npz *z;
    vpu_status st = npz_open(s->path, s->rest, &z, s->err);

    if (!st)
        st = check_desc(s->b, npz_path(z), npz_desc(z), s->a, s->err);
    if (!st) {
        *s->plain = arena_push(s->a, s->b->bytes, 1, 64);
        st = npz_read(z, *s->plain, s->err);
    }
    npz_close(z);
    return st;
}

static vpu_status load_picture(const source *s, pixels_kind kind)
{
    pixels_options o;
    file_bytes f = {.path = s->path};
    char *data = NULL;
    vpu_status st = pixels_options_parse(s->rest, &o, s->err);

    if (st)
        return err_in(s->err, st, "%s", s->path);
    st = file_read(s->path, PIXELS_MAX_FILE, s->a, &data, &f.n, s->err);
    if (st)
        return st;
    f.data = data;
    *s->plain = arena_push(s->a, s->b->bytes, 1, 64);
    return pixels_parse(&f, kind, &o, &s->b->desc, s->b->name, *s->plain,
                        s->err);
}

static vpu_status load_png(const source *s)
{
    return load_picture(s, PIXELS_PNG);
}

static vpu_status load_jpeg(const source *s)
{
    return load_picture(s, PIXELS_JPEG);
}

/* What a file looks like, also of kinds that nothing here reads. */
typedef struct {
    const char *what, *first; /* its first bytes, */
    size_t at, n;             /* where, and how many */
    const char *instead;
} signature;

static const signature signatures[] = {
    {"a PNG picture", "\x89PNG\r\n\x1a\n", 0, 8, "end its name in .png"},
    {"a JPEG picture", "\xff\xd8\xff", 0, 3, "end its name in .jpg"},
    {"an archive .npz", "PK\3\4", 0, 4, "end its name in .npz"},
    {"an archive .npz", "PK\5\6", 0, 4, "end its name in .npz"},
    {"a NumPy file", "\x93NUMPY", 0, 6, "end its name in .npy"},
    {"a GIF picture", "GIF8", 0, 4, "save it as PNG"},
    {"a WebP picture", "WEBP", 8, 4, "save it as PNG"},
    {"a TIFF picture", "II*\0", 0, 4, "save it as PNG"},
    {"a TIFF picture", "MM\0*", 0, 4, "save it as PNG"},
    {"a HEIF or AVIF picture", "ftyp", 4, 4, "save it as PNG"},
    {"a BMP picture", "BM", 0, 2, "save it as PNG"},
};
enum { N_SIGNATURES = sizeof signatures / sizeof *signatures, MAX_FIRST = 12 };

static const struct {
    const char *ending, *what; /* a signature's; NULL: the reader looks at it */
    bool takes_rest;
    vpu_status (*load)(const source *s);
} kinds[] = {{".npy", NULL, false, load_npy},
             {".npz", "an archive .npz", true, load_npz},
             {".png", "a PNG picture", true, load_png},
             {".jpg", "a JPEG picture", true, load_jpeg},
             {".jpeg", "a JPEG picture", true, load_jpeg}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* The kind whose ending stands before the first colon that follows one, or at
 * the end; N_KINDS = spec is no file. */
static size_t split_file(const char *spec, arena *a, source *s)
{
    for (const char *p = spec; *p; p++)
        for (size_t i = 0; i < N_KINDS && p > spec; i++) {
            size_t n = strlen(kinds[i].ending);

            if (strncasecmp(p, kinds[i].ending, n) ||
                (p[n] && (p[n] != ':' || !kinds[i].takes_rest)))
                continue;
            s->path = arena_strndup(a, spec, (size_t)(p - spec) + n);
            s->rest = p[n] ? p + n + 1 : NULL;
            return i;
        }
    return N_KINDS;
}

static const signature *signature_of(const char *first, size_t n)
{
    for (size_t i = 0; i < N_SIGNATURES; i++)
        if (n >= signatures[i].at + signatures[i].n &&
            !memcmp(first + signatures[i].at, signatures[i].first,
                    signatures[i].n))
            return &signatures[i];
    return NULL;
}

/* A file is what its ending says. */
static vpu_status check_signature(const source *s, const char *what)
{
    char first[MAX_FIRST] = {0};
    const signature *is;
    file_in f;
    size_t n = 0;
    vpu_status st = file_in_open(&f, s->path, UINT64_MAX, s->err);

    if (!st) {
        n = f.bytes < MAX_FIRST ? (size_t)f.bytes : MAX_FIRST;
        st = file_in_read(&f, 0, first, n, s->err);
        file_in_close(&f);
    }
    if (st)
        return st;
    is = signature_of(first, n);
    if (is && !strcmp(is->what, what))
        return VPU_OK;
    if (is)
        return err_set(s->err, VPU_ERR_PARSE, "%s: not %s but %s; %s", s->path,
                       what, is->what, is->instead);
    if (n < 4)
        return err_set(s->err, VPU_ERR_PARSE,
                       "%s: not %s: the file has %zu bytes", s->path, what, n);
    return err_set(s->err, VPU_ERR_PARSE,
                   "%s: not %s: the file begins with the bytes %02x %02x %02x "
                   "%02x",
                   s->path, what, (uint8_t)first[0], (uint8_t)first[1],
                   (uint8_t)first[2], (uint8_t)first[3]);
}

/* --- all ----------------------------------------------------------------- */

/* The elements spec asks for, in logical order, in a. */
static vpu_status make_plain(const graph_buffer *b, const char *spec, arena *a,
                             void **plain, vpu_error *err)
{
    source s = {.b = b, .a = a, .plain = plain, .err = err};
    size_t kind = split_file(spec, a, &s);
    unsigned long long seed;

    if (kind < N_KINDS) {
        vpu_status st =
            kinds[kind].what ? check_signature(&s, kinds[kind].what) : VPU_OK;

        return st ? st : kinds[kind].load(&s);
    }
    *plain = arena_push(a, b->bytes, 1, 64);
    if (!strcmp(spec, "zeros"))
        return VPU_OK;
    if (!strcmp(spec, "ramp")) {
        fill_ramp(&b->desc, *plain);
        return VPU_OK;
    }
    if (!strncmp(spec, "random:", 7) && str_to_u64(spec + 7, &seed)) {
        fill_random(&b->desc, seed + b->port * 0x9e3779b97f4a7c15, *plain);
        return VPU_OK;
    }
    return err_set(err, VPU_ERR_INVALID,
                   "input '%s' for %s; expected zeros, ramp, random:SEED or a "
                   "file that ends in .npy, .npz, .png, .jpg or .jpeg",
                   spec, b->name);
}

vpu_status graph_input_fill(const graph_buffer *b, const char *spec, void *data,
                            vpu_error *err)
{
    arena *a = arena_create(0);
    tensor_desc plain_desc = b->desc;
    void *plain = NULL;
    vpu_status st = make_plain(b, spec, a, &plain, err);

    plain_desc.layout = TENSOR_PLAIN;
    if (!st)
        tensor_relayout(&plain_desc, plain, b->desc.layout, data);
    arena_destroy(a);
    return st;
}

vpu_status graph_output_save(const char *dir, const graph *g, void *const *data,
                             vpu_error *err)
{
    arena *a = arena_create(0);
    vpu_status st = file_mkdirs(dir, err);

    for (uint32_t i = 0; i < g->n_buffers && !st; i++) {
        const graph_buffer *b = &g->buffers[i];
        tensor t = {b->desc, data[i]};

        if (b->role == GRAPH_OUTPUT)
            st = npy_write(arena_printf(a, "%s/%s.npy", dir, b->name), &t, err);
    }
    arena_destroy(a);
    return st;
}
