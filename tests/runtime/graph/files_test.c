/* Archives and pictures as inputs. The files are made here: archives byte by
 * byte and by libzip, pictures by libpng and TurboJPEG from pixels that are
 * known, and what comes out is compared with plain C. */
#include <check.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <turbojpeg.h>
#include <unistd.h>
#include <zip.h>

#include "base/file.h"
#include "base/str.h"
#include "base/temp.h"
#include "runtime/graph/io.h"
#include "runtime/graph/npz.h"

static arena *a;
static char *dir;
static vpu_error err;

static void setup(void)
{
    a = arena_create(0);
    ck_assert(!temp_dir(a, "files-test", &dir, &err));
}

static void teardown(void)
{
    temp_dir_remove(dir);
    arena_destroy(a);
}

static const char *put(const char *name, const void *data, size_t n)
{
    const char *path = file_join(a, dir, name);

    ck_assert_msg(!file_write(path, data, n, &err), "%s", err.msg);
    return path;
}

static uint64_t elements(const graph_buffer *b)
{
    return tensor_elements(&b->desc);
}

static graph_buffer buffer(tensor_dtype t, uint32_t rank, const uint32_t *dims)
{
    graph_buffer b = {.name = "in0", .desc = {.dtype = t, .rank = rank}};

    memcpy(b.desc.dims, dims, rank * sizeof *dims);
    b.bytes = tensor_bytes(&b.desc);
    return b;
}

#define DIMS(...)                                                   \
    (uint32_t)(sizeof((uint32_t[]){__VA_ARGS__}) / 4), (uint32_t[]) \
    {                                                               \
        __VA_ARGS__                                                 \
    }

/* The input filled, in dir's file; NULL: an error, in err. */
static void *fill(const graph_buffer *b, const char *spec)
{
    void *data = arena_push(a, b->bytes, 1, 64);

    return graph_input_fill(b, file_join(a, dir, spec), data, &err) ? NULL
                                                                    : data;
}

static void expect(const graph_buffer *b, const char *spec, vpu_status st,
                   const char *says)
{
    unsigned char *data = arena_push(a, b->bytes, 1, 64);

    memset(data, 0xa5, b->bytes);
    ck_assert_int_eq(graph_input_fill(b, file_join(a, dir, spec), data, &err),
                     st);
    ck_assert_msg(strstr(err.msg, says) != NULL, "%s\nhas no: %s", err.msg,
                  says);
    ck_assert(data[0] == 0xa5 && !memcmp(data, data + 1, b->bytes - 1));
}

/* --- archives ------------------------------------------------------------ */

/* A .npy file of that element type and shape. */
static str npy_of(const char *descr, const char *shape, const void *data,
                  size_t n)
{
    str s = {.arena = a};

    str_printf(&s, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }\n",
               descr, shape);
    char head[10] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)s.n, 0};
    str out = {.arena = a};
    str_add(&out, head, sizeof head);
    str_add(&out, s.data, s.n);
    str_add(&out, data, n);
    return out;
}

/* The checksum of archives and of PNG, bit by bit. */
static uint32_t checksum(const void *data, size_t n)
{
    uint32_t c = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        c ^= ((const uint8_t *)data)[i];
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
    }
    return ~c;
}

/* A member as an archive writes it down, not all of it true. */
typedef struct {
    const char *name;
    str bytes;
    unsigned flags, method;
    uint64_t announced; /* 0: the truth */
    uint64_t elements;  /* bytes announced of them; 0: as `announced` says */
    uint32_t crc_off;
} member;

static void little(str *s, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        str_add(s, &(char){(char)(i < 8 ? v >> 8 * i : 0)}, 1);
}

/* In blocks that are not compressed. */
static str deflated(const str *plain)
{
    str s = {.arena = a};

    for (size_t at = 0, n; at < plain->n; at += n) {
        n = plain->n - at < 65535 ? plain->n - at : 65535;
        little(&s, at + n == plain->n, 1);
        little(&s, n, 2);
        little(&s, ~n, 2);
        str_add(&s, plain->data + at, n);
    }
    return s;
}

static void common(str *s, const member *m, bool central)
{
    uint64_t n = m->announced ? m->announced : m->bytes.n;
    bool wide = n > 0xfffffffe;

    little(s, 45, 2);
    little(s, m->flags, 2);
    little(s, m->method, 2);
    little(s, 0x21 << 16, 4); /* the first of 1980 */
    little(s, checksum(m->bytes.data, m->bytes.n) + m->crc_off, 4);
    little(s, m->bytes.n, 4);
    little(s, wide ? 0xffffffff : n, 4);
    little(s, strlen(m->name), 2);
    little(s, wide ? (central ? 12 : 20) : 0, 2);
}

static void wide_size(str *s, const member *m, bool central)
{
    if (m->announced <= 0xfffffffe)
        return;
    little(s, 1, 2);
    little(s, central ? 8 : 16, 2);
    little(s, m->announced, 8);
    if (!central)
        little(s, m->bytes.n, 8);
}

static str archive(const member *list, size_t n)
{
    str s = {.arena = a}, directory = {.arena = a};
    size_t begin;

    for (size_t i = 0; i < n; i++) {
        size_t at = s.n;

        little(&s, 0x04034b50, 4);
        common(&s, &list[i], false);
        str_puts(&s, list[i].name);
        wide_size(&s, &list[i], false);
        str_add(&s, list[i].bytes.data, list[i].bytes.n);
        little(&directory, 0x02014b50, 4);
        little(&directory, 45, 2);
        common(&directory, &list[i], true);
        little(&directory, 0, 2 + 2 + 2 + 4);
        little(&directory, at, 4);
        str_puts(&directory, list[i].name);
        wide_size(&directory, &list[i], true);
    }
    begin = s.n;
    str_add(&s, str_text(&directory), directory.n);
    little(&s, 0x06054b50, 4);
    little(&s, 0, 4);
    little(&s, n, 2);
    little(&s, n, 2);
    little(&s, directory.n, 4);
    little(&s, begin, 4);
    little(&s, 0, 2);
    return s;
}

static void put_archive(const char *name, const member *list, size_t n)
{
    str s = archive(list, n);

    put(name, s.data, s.n);
}

/* By libzip, as numpy.savez (stored) and numpy.savez_compressed (deflated). */
static void put_zip(const char *name, zip_int32_t method, const str *bytes,
                    const char *const *names, int n)
{
    zip_t *z = zip_open(file_join(a, dir, name), ZIP_CREATE, NULL);

    ck_assert_ptr_nonnull(z);
    for (int i = 0; i < n; i++) {
        zip_int64_t k = zip_file_add(
            z, names[i], zip_source_buffer(z, bytes[i].data, bytes[i].n, 0), 0);

        ck_assert_int_ge(k, 0);
        ck_assert(!zip_set_file_compression(z, (zip_uint64_t)k, method, 0));
    }
    ck_assert(!zip_close(z));
}

static float numbers[6] = {1, -2, 3.5f, 4, 5, 1e9f};

START_TEST(arrays)
{
    static const char *const names[] = {"x.npy", "readme.txt", "y/z.npy"};
    static const zip_int32_t methods[] = {ZIP_CM_STORE, ZIP_CM_DEFLATE};
    float twice[6];
    graph_buffer b = buffer(TENSOR_F32, DIMS(1, 2, 3));
    graph_buffer large = buffer(TENSOR_U8, DIMS(300000));
    uint8_t *bytes = arena_push(a, 300000, 1, 1), *got;

    for (int i = 0; i < 6; i++)
        twice[i] = 2 * numbers[i];
    for (int i = 0; i < 300000; i++)
        bytes[i] = (uint8_t)((unsigned)i * 7919 >> 7);
    for (int i = 0; i < 2; i++) {
        str files[3] = {npy_of("<f4", "(1, 2, 3)", numbers, sizeof numbers),
                        {.data = (char[]){"read me"}, .n = 7},
                        npy_of("<f4", "(1, 2, 3)", twice, sizeof twice)};
        str one = npy_of("|u1", "(300000,)", bytes, 300000);

        put_zip(arena_printf(a, "%d.npz", i), methods[i], files, names, 3);
        put_zip(arena_printf(a, "one%d.NPZ", i), methods[i], &one, names, 1);
        got = fill(&b, arena_printf(a, "%d.npz:x", i));
        ck_assert_msg(got != NULL, "%s", err.msg);
        ck_assert_mem_eq(got, numbers, sizeof numbers);
        got = fill(&b, arena_printf(a, "%d.npz:y/z", i));
        ck_assert_msg(got != NULL, "%s", err.msg);
        ck_assert_mem_eq(got, twice, sizeof twice);
        got = fill(&large, arena_printf(a, "one%d.NPZ", i));
        ck_assert_msg(got != NULL, "%s", err.msg);
        ck_assert_mem_eq(got, bytes, 300000);
        expect(&b, arena_printf(a, "%d.npz", i), VPU_ERR_INVALID,
               "which array? put :NAME behind the file; there are x, y/z");
        expect(&b, arena_printf(a, "%d.npz:readme", i), VPU_ERR_INVALID,
               "no array 'readme'; there are x, y/z");
        expect(&b, arena_printf(a, "one%d.NPZ:x.npy", i), VPU_ERR_INVALID,
               "no array 'x.npy'; there is x");
        expect(&b, arena_printf(a, "one%d.NPZ", i), VPU_ERR_MISMATCH,
               "x: the file is u8 300000, in0 wants f32 1x2x3");
    }
}
END_TEST

START_TEST(channels_innermost)
{
    static const char *const names[] = {"x.npy"};
    float turned[6];
    graph_buffer b = buffer(TENSOR_F32, DIMS(2, 1, 3));
    str file = npy_of("<f4", "(2, 1, 3)", numbers, sizeof numbers);

    put_zip("x.npz", ZIP_CM_DEFLATE, &file, names, 1);
    b.desc.layout = TENSOR_CHANNEL_MINOR;
    for (int c = 0; c < 2; c++)
        for (int x = 0; x < 3; x++)
            turned[x * 2 + c] = numbers[c * 3 + x];
    ck_assert_mem_eq(fill(&b, "x.npz"), turned, sizeof turned);
}
END_TEST

static const struct {
    const char *what;
    const char *descr, *shape;
    size_t n; /* bytes of elements */
    member m;
    vpu_status st;
    const char *says;
} bad_members[] = {
    {"encrypted",
     "<f4",
     "(6,)",
     24,
     {.flags = 1},
     VPU_ERR_UNSUPPORTED,
     "x.npz:x: encrypted"},
    {"another compression",
     "<f4",
     "(6,)",
     24,
     {.method = 14},
     VPU_ERR_UNSUPPORTED,
     "compressed by method 14"},
    {"checksum", "<f4", "(6,)", 24, {.crc_off = 1}, VPU_ERR_PARSE, "damaged"},
    {"an object", "|O", "(6,)", 24, {0}, VPU_ERR_UNSUPPORTED, "'|O'"},
    {"doubles", "<f8", "(3,)", 24, {0}, VPU_ERR_UNSUPPORTED, "numpy.float16"},
    {"too few bytes", "<f4", "(6,)", 20, {0}, VPU_ERR_PARSE, "20 bytes"},
    {"too many bytes", "<f4", "(6,)", 28, {0}, VPU_ERR_PARSE, "28 bytes"},
    {"another shape",
     "<f4",
     "(2, 3)",
     24,
     {0},
     VPU_ERR_MISMATCH,
     "the file is f32 2x3, in0 wants f32 6"},
    /* Bombs: what is announced is looked at before memory is taken for it. */
    {"longer than a tensor",
     "<f4",
     "(6,)",
     24,
     {.announced = 1ull << 33},
     VPU_ERR_LIMIT,
     "8589934592 bytes, the limit is 4294967296"},
    {"longer than its shape",
     "<f4",
     "(6,)",
     70000,
     {.method = 8, .elements = 4000000000},
     VPU_ERR_PARSE,
     "4000000000 bytes of elements"},
    {"a shape of 4 GiB",
     "<f4",
     "(1073741824,)",
     70000,
     {.method = 8, .elements = 1ull << 32},
     VPU_ERR_MISMATCH,
     "the file is f32 1073741824, in0 wants f32 6"},
    {"shorter than announced",
     "<f4",
     "(6,)",
     20,
     {.method = 8, .elements = 24},
     VPU_ERR_PARSE,
     "damaged"},
    {"longer than announced",
     "<f4",
     "(6,)",
     28,
     {.method = 8, .elements = 24},
     VPU_ERR_PARSE,
     "damaged"},
    {"a shape of 8 GiB", "<f4", "(2147483648,)", 24, {0}, VPU_ERR_LIMIT, ""},
};

START_TEST(refused_members)
{
    graph_buffer b = buffer(TENSOR_F32, DIMS(6));
    static const char zero[70000];
    member m = bad_members[_i].m;

    m.name = "x.npy";
    m.bytes = npy_of(bad_members[_i].descr, bad_members[_i].shape, zero,
                     bad_members[_i].n);
    if (m.elements)
        m.announced = m.bytes.n - bad_members[_i].n + m.elements;
    if (m.method == 8)
        m.bytes = deflated(&m.bytes);
    put_archive("x.npz", &m, 1);
#ifndef __SANITIZE_ADDRESS__
    ck_assert(!setrlimit(RLIMIT_AS, &(struct rlimit){1 << 30, 1 << 30}));
#endif
    expect(&b, "x.npz", bad_members[_i].st, bad_members[_i].says);
}
END_TEST

typedef struct {
    str head;
    uint64_t n, at; /* of it and the zeros behind it */
} zeros;

static zip_int64_t give_zeros(void *user, void *out, zip_uint64_t n,
                              zip_source_cmd_t command)
{
    zeros *z = user;
    zip_stat_t *st = out;

    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(
            ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
            ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, -1);
    case ZIP_SOURCE_STAT:
        zip_stat_init(st);
        return sizeof *st;
    case ZIP_SOURCE_READ:
        n = n < z->n - z->at ? n : z->n - z->at;
        memset(out, 0, n);
        for (uint64_t i = z->at; i < z->head.n && i - z->at < n; i++)
            ((char *)out)[i - z->at] = z->head.data[i];
        z->at += n;
        return (zip_int64_t)n;
    default:
        return 0;
    }
}

/* A true bomb: more than a gigabyte of zeros in about a megabyte. */
START_TEST(bomb)
{
    graph_buffer b = buffer(TENSOR_U8, DIMS(6));
    zip_t *zip = zip_open(file_join(a, dir, "x.npz"), ZIP_CREATE, NULL);
    zeros z = {npy_of("|u1", "(1258291200,)", "", 0), 0, 0};
    vpu_error why;
    file_in f;

    z.n = z.head.n + 1258291200;
    ck_assert_int_eq(
        zip_file_add(zip, "x.npy", zip_source_function(zip, give_zeros, &z), 0),
        0);
    ck_assert(!zip_set_file_compression(zip, 0, ZIP_CM_DEFLATE, 1));
    ck_assert(!zip_close(zip));
    ck_assert(!file_in_open(&f, file_join(a, dir, "x.npz"), 8 << 20, &why));
    file_in_close(&f);
#ifndef __SANITIZE_ADDRESS__
    ck_assert(!setrlimit(RLIMIT_AS, &(struct rlimit){1 << 30, 1 << 30}));
#endif
    expect(&b, "x.npz", VPU_ERR_MISMATCH, "in0 wants u8 6");
}
END_TEST

static void put_many(const char *name, int n)
{
    zip_t *z = zip_open(file_join(a, dir, name), ZIP_CREATE, NULL);

    for (int i = 0; i < n; i++)
        ck_assert_int_eq(zip_file_add(z, arena_printf(a, "m%d.npy", i),
                                      zip_source_buffer(z, "", 0, 0), 0),
                         i);
    ck_assert(!zip_close(z));
}

START_TEST(refused_archives)
{
    graph_buffer b = buffer(TENSOR_F32, DIMS(6));
    member two[20];
    str s;

    for (int i = 0; i < 20; i++)
        two[i] = (member){.name = arena_printf(a, "m%d.npy", i / 2 * 2),
                          .bytes = npy_of("<f4", "(6,)", numbers, 24)};
    put_archive("x.npz", two, 2);
    expect(&b, "x.npz:m0", VPU_ERR_INVALID, "more than one array 'm0'");
    put_archive("x.npz", two, 20);
    expect(&b, "x.npz:no\x1b", VPU_ERR_INVALID, "and 4 more");
    put_archive("x.npz", NULL, 0);
    expect(&b, "x.npz", VPU_ERR_INVALID, "the archive has no array");
    two[0].name = ".npy";
    put_archive("x.npz", two, 1);
    expect(&b, "x.npz", VPU_ERR_INVALID, "the archive has no array");
    put_many("many.npz", NPZ_MAX_MEMBERS + 1);
    expect(&b, "many.npz:m1", VPU_ERR_LIMIT,
           "65537 members in the archive, the limit is 65536");
    expect(&b, "nowhere.npz", VPU_ERR_IO, "No such file");
    two[0].name = "x.npy";
    s = archive(two, 1);
    for (size_t n = 4; n < s.n; n++) {
        put("cut.npz", s.data, n);
        expect(&b, "cut.npz", VPU_ERR_PARSE, "cut.npz");
    }
    for (size_t i = 0; i < s.n; i++) { /* any byte, another */
        s.data[i] ^= 0x41;
        put("other.npz", s.data, s.n);
        fill(&b, "other.npz");
        s.data[i] ^= 0x41;
    }
}
END_TEST

/* --- pictures ------------------------------------------------------------ */

enum { W = 5, H = 3 };

/* Byte c of pixel (x, y): every one different. */
static uint8_t byte_at(unsigned x, unsigned y, unsigned c)
{
    return (uint8_t)(x * 37 + y * 61 + c * 101 + 3);
}

/* Behind it in a sample of 16 bits. */
static uint8_t low_of(uint8_t v)
{
    return (uint8_t)(v * 3 + 100);
}

/* What to write besides the pixels. */
typedef struct {
    int bits, type;
    bool interlaced, transparent;
    double gamma; /* 0 = none */
} png_form;

static void put_png(const char *name, const png_form *f)
{
    FILE *out = fopen(file_join(a, dir, name), "wb");
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    unsigned n = f->type == PNG_COLOR_TYPE_PALETTE ? 1
                 : f->type == PNG_COLOR_TYPE_RGB_ALPHA
                     ? 4
                     : (f->type & PNG_COLOR_MASK_COLOR ? 3 : 1) +
                           !!(f->type & PNG_COLOR_MASK_ALPHA);
    uint8_t rows[H][W * 4 * 2], *list[H];
    png_color colors[W * H];

    ck_assert(out && info && !setjmp(png_jmpbuf(png)));
    png_init_io(png, out);
    png_set_IHDR(png, info, W, H, f->bits, f->type,
                 f->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (f->gamma > 0)
        png_set_gAMA(png, info, f->gamma);
    memset(rows, 0, sizeof rows);
    for (unsigned y = 0; y < H; y++)
        for (unsigned x = 0; x < W; x++) {
            unsigned i = y * W + x;

            list[y] = rows[y];
            colors[i] = (png_color){byte_at(x, y, 0), byte_at(x, y, 1),
                                    byte_at(x, y, 2)};
            for (unsigned c = 0; c < n; c++) {
                uint8_t v = f->type == PNG_COLOR_TYPE_PALETTE
                                ? (uint8_t)i
                                : byte_at(x, y, c);

                if (f->bits == 16) {
                    rows[y][2 * (x * n + c)] = v;
                    rows[y][2 * (x * n + c) + 1] = low_of(v);
                } else if (f->bits == 8)
                    rows[y][x * n + c] = v;
                else /* the top bits */
                    rows[y][x * (unsigned)f->bits / 8] |=
                        (uint8_t)(v >>
                                  (8 - f->bits)
                                      << (8 - f->bits -
                                          (int)(x * (unsigned)f->bits % 8)));
            }
        }
    if (f->type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, colors, W * H);
    if (f->transparent)
        png_set_tRNS(png, info, (png_byte[]){0, 128}, 2,
                     &(png_color_16){.gray = 3});
    png_write_info(png, info);
    png_write_image(png, list);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    ck_assert(!fclose(out));
}

#define GREY PNG_COLOR_TYPE_GRAY
#define RGB PNG_COLOR_TYPE_RGB

static const png_form forms[] = {
    {8, RGB, false, false, 0},
    {8, RGB, true, false, 0},
    {16, RGB, false, false, 0},
    {16, RGB, true, false, 1.0},
    {8, RGB, false, false, 0.45455},
    {8, RGB, false, false, 1.0},
    {8, PNG_COLOR_TYPE_PALETTE, false, false, 0},
    {8, PNG_COLOR_TYPE_PALETTE, true, true, 0},
    {8, PNG_COLOR_TYPE_RGB_ALPHA, false, false, 0},
    {16, PNG_COLOR_TYPE_RGB_ALPHA, false, false, 0},
    {8, GREY, false, false, 0},
    {8, GREY, true, true, 1.0},
    {16, GREY, false, false, 0},
    {4, GREY, false, false, 0},
    {2, GREY, false, false, 0},
    {1, GREY, true, false, 0},
    {8, PNG_COLOR_TYPE_GRAY_ALPHA, false, false, 0},
};

/* Stored values, as they are, whatever else the file says. */
START_TEST(png_forms)
{
    const png_form *f = &forms[_i];
    unsigned n = f->type & PNG_COLOR_MASK_COLOR ? 3 : 1;
    bool alpha = f->type & PNG_COLOR_MASK_ALPHA || f->transparent;
    graph_buffer b = buffer(TENSOR_U8, DIMS(1, n, H, W));
    uint8_t *got;

    put_png("p.png", f);
    if (alpha)
        expect(&b, "p.png", VPU_ERR_UNSUPPORTED,
               "has transparency; put alpha=drop behind the file");
    got = fill(&b, alpha ? "p.png:alpha=drop" : "p.png");
    ck_assert_msg(got != NULL, "%s", err.msg);
    for (unsigned c = 0; c < n; c++)
        for (unsigned y = 0; y < H; y++)
            for (unsigned x = 0; x < W; x++) {
                unsigned v = byte_at(x, y, c), bits = (unsigned)f->bits;

                if (bits == 16) /* rounded */
                    v = (unsigned)lround((v << 8 | low_of((uint8_t)v)) / 257.0);
                if (bits < 8) /* spread over 0 to 255 */
                    v = (v >> (8 - bits)) * 255 / ((1u << bits) - 1);
                ck_assert_uint_eq(got[(c * H + y) * W + x], v);
            }
}
END_TEST

START_TEST(values)
{
    static const float mean[3] = {104.25f, 117, 123}, scale[3] = {58, 57, 0.3f};
    graph_buffer f32 = buffer(TENSOR_F32, DIMS(3, H, W));
    graph_buffer f16 = buffer(TENSOR_F16, DIMS(1, 3, H, W));
    float *got;
    uint16_t *half;

    put_png("p.PnG", &forms[0]);
    for (int bgr = 0; bgr < 2; bgr++) {
        const char *options =
            arena_printf(a, ":mean=104.25,117,123,scale=58,57,.3%s",
                         bgr ? ",order=bgr" : ",order=rgb");

        got = fill(&f32, arena_printf(a, "p.PnG%s", options));
        ck_assert_msg(got != NULL, "%s", err.msg);
        half = fill(&f16, arena_printf(a, "p.PnG%s", options));
        ck_assert_msg(half != NULL, "%s", err.msg);
        for (unsigned i = 0; i < 3 * H * W; i++) {
            unsigned c = i / (H * W), y = i / W % H, x = i % W;
            float want =
                ((float)byte_at(x, y, bgr ? 2 - c : c) - mean[c]) / scale[c];

            ck_assert(got[i] == want);
            ck_assert_uint_eq(half[i], tensor_f32_to_f16(want));
        }
    }
    got = fill(&f32, "p.PnG:scale=255");
    for (unsigned i = 0; i < 3 * H * W; i++)
        ck_assert(got[i] ==
                  (float)byte_at(i % W, i / W % H, i / (H * W)) / 255.0f);
    f32.desc.layout = TENSOR_CHANNEL_MINOR;
    got = fill(&f32, "p.PnG:order=bgr");
    for (unsigned i = 0; i < 3 * H * W; i++)
        ck_assert(got[i] == (float)byte_at(i / 3 % W, i / 3 / W, 2 - i % 3));
}
END_TEST

START_TEST(grey)
{
    graph_buffer plane = buffer(TENSOR_F16, DIMS(H, W));
    graph_buffer color = buffer(TENSOR_U8, DIMS(3, H, W));
    uint16_t *half;
    uint8_t *got;

    put_png("g.png", &(png_form){8, GREY, false, false, 0});
    half = fill(&plane, "g.png:mean=3");
    for (unsigned i = 0; i < H * W; i++)
        ck_assert(tensor_f16_to_f32(half[i]) ==
                  (float)byte_at(i % W, i / W, 0) - 3);
    expect(&color, "g.png", VPU_ERR_MISMATCH,
           "the picture is grey; put grey=repeat behind the file");
    got = fill(&color, "g.png:grey=repeat");
    for (unsigned i = 0; i < 3 * H * W; i++)
        ck_assert_uint_eq(got[i], byte_at(i % W, i / W % H, 0));
    expect(&plane, "g.png:mean=1,2,3", VPU_ERR_INVALID, "its one channel");
    expect(&plane, "g.png:order=bgr", VPU_ERR_INVALID, "its one channel");
    put_png("c.png", &forms[0]);
    expect(&plane, "c.png", VPU_ERR_MISMATCH,
           "the picture has 3 channels; save it as a grey one");
}
END_TEST

/* Whole numbers from 0 to 255 alone are bytes. */
START_TEST(bytes)
{
    graph_buffer b = buffer(TENSOR_U8, DIMS(3, H, W));
    graph_buffer f16 = buffer(TENSOR_F16, DIMS(3, H, W));
    uint8_t *got;

    put_png("p.png", &forms[0]);
    got = fill(&b, "p.png:mean=-0,scale=1.0");
    ck_assert_msg(got != NULL, "%s", err.msg);
    ck_assert_uint_eq(got[1], byte_at(1, 0, 0));
    /* Pixel (1, 0) is the first whose 40 is no half of a whole number. */
    expect(&b, "p.png:scale=2", VPU_ERR_INVALID,
           "pixel (0, 0), channel 0: (3 - mean) / scale is 1.5, which no "
           "element of input in0 can be: they are u8");
    expect(&b, "p.png:mean=4", VPU_ERR_INVALID, "is -1,");
    expect(&b, "p.png:mean=-250", VPU_ERR_INVALID, "is 290,");
    expect(&f16, "p.png:scale=1e-4", VPU_ERR_INVALID, "they are f16");
}
END_TEST

static const struct {
    tensor_dtype t;
    uint32_t rank, dims[5];
    const char *options;
    vpu_status st;
    const char *says;
} bad_inputs[] = {
    {TENSOR_U8,
     3,
     {3, W, H},
     "",
     VPU_ERR_MISMATCH,
     "the picture is 5 wide and 3 high, input in0, u8 3x5x3, is 3 wide and 5 "
     "high"},
    {TENSOR_U8, 4, {2, 3, H, W}, "", VPU_ERR_INVALID, "a batch of 1"},
    {TENSOR_U8, 4, {1, 4, H, W}, "", VPU_ERR_MISMATCH, "1 or 3 channels"},
    {TENSOR_U8, 1, {H * W}, "", VPU_ERR_INVALID, "NCHW, CHW or HW"},
    {TENSOR_U8, 5, {1, 1, 3, H, W}, "", VPU_ERR_INVALID, "NCHW, CHW or HW"},
    {TENSOR_I8, 3, {3, H, W}, "", VPU_ERR_INVALID, "u8, f16 or f32"},
#define OPTION(options, says) \
    {TENSOR_F32, 3, {3, H, W}, options, VPU_ERR_INVALID, says}
    OPTION(":", "picture option '': no such option; expected mean=M"),
    OPTION(":mean", "'mean': no such option"),
    OPTION(":means=1", "'means=1': no such option"),
    OPTION(":mean=", "'mean=': not a number"),
    OPTION(":mean=1,2", "'mean': two numbers; one or three are possible"),
    OPTION(":mean=1,2,3,4", "'4': a fourth number"),
    OPTION(":mean=1,x,3", "'x': not a number"),
    OPTION(":mean=inf", "not a number"),
    OPTION(":scale=1e39", "not a number"),
    OPTION(":scale=1,0,1", "0, which nothing can be divided by"),
    OPTION(":scale=1,mean=2,scale=3", "'scale=3': given twice"),
    OPTION(":order=bgr,1", "'1': no such option"),
    OPTION(":order=brg", "'order=brg': no such value"),
    OPTION(":alpha=keep", "'alpha=keep': no such value"),
    OPTION(":grey=yes", "'grey=yes': no such value"),
};

START_TEST(refused_inputs)
{
    graph_buffer b =
        buffer(bad_inputs[_i].t, bad_inputs[_i].rank, bad_inputs[_i].dims);

    put_png("p.png", &forms[0]);
    expect(&b, arena_printf(a, "p.png%s", bad_inputs[_i].options),
           bad_inputs[_i].st, bad_inputs[_i].says);
}
END_TEST

/* --- JPEG ---------------------------------------------------------------- */

enum { SIDE = 16 };

/* Four blocks, each of one colour: what JPEG keeps, but for roundings between
 * its colours and ours. */
static uint8_t block_at(unsigned x, unsigned y, unsigned c)
{
    return (uint8_t)(40 + x / 8 * 90 + y / 8 * 50 + c * 25);
}

static char *jpeg_of(int format, int sampling, size_t *n)
{
    uint8_t pixels[SIDE][SIDE][4];
    unsigned channels = (unsigned)tjPixelSize[format];
    unsigned char *out = NULL;
    unsigned long size = 0;
    tjhandle tj = tjInitCompress();
    char *copy;

    for (unsigned y = 0; y < SIDE; y++)
        for (unsigned x = 0; x < SIDE; x++)
            for (unsigned c = 0; c < channels; c++)
                ((uint8_t *)pixels)[(y * SIDE + x) * channels + c] =
                    block_at(x, y, c);
    ck_assert(!tjCompress2(tj, (uint8_t *)pixels, SIDE, 0, SIDE, format, &out,
                           &size, sampling, 100, TJFLAG_ACCURATEDCT));
    copy = arena_memdup(a, out, size);
    *n = size;
    tjFree(out);
    tjDestroy(tj);
    return copy;
}

START_TEST(jpeg)
{
    graph_buffer color = buffer(TENSOR_U8, DIMS(1, 3, SIDE, SIDE));
    graph_buffer plane = buffer(TENSOR_F32, DIMS(1, SIDE, SIDE));
    uint8_t *got;
    float *f;
    char *file;
    size_t n;

    file = jpeg_of(TJPF_RGB, TJSAMP_444, &n);
    put("c.jpg", file, n);
    put("c.jpeg", file, n);
    file = jpeg_of(TJPF_GRAY, TJSAMP_GRAY, &n);
    put("g.JPG", file, n);
    for (int bgr = 0; bgr < 2; bgr++) {
        got = fill(&color, bgr ? "c.jpeg:order=bgr" : "c.jpg");
        ck_assert_msg(got != NULL, "%s", err.msg);
        for (unsigned i = 0; i < elements(&color); i++) {
            unsigned c = i / (SIDE * SIDE);
            int want = block_at(i % SIDE, i / SIDE % SIDE, bgr ? 2 - c : c);

            ck_assert_int_le(abs(got[i] - want), 2);
        }
    }
    f = fill(&plane, "g.JPG:mean=128,scale=2");
    ck_assert_msg(f != NULL, "%s", err.msg);
    for (unsigned i = 0; i < SIDE * SIDE; i++)
        ck_assert(f[i] == ((float)block_at(i % SIDE, i / SIDE, 0) - 128) / 2);
    expect(&color, "g.JPG", VPU_ERR_MISMATCH, "grey=repeat");
    expect(&plane, "c.jpg", VPU_ERR_MISMATCH, "save it as a grey one");
    color = buffer(TENSOR_U8, DIMS(1, 3, SIDE, SIDE + 1));
    expect(&color, "c.jpg", VPU_ERR_MISMATCH,
           "the picture is 16 wide and 16 high, input in0, u8 1x3x16x17, is 17 "
           "wide and 16 high");
}
END_TEST

START_TEST(jpeg_of_printers)
{
    graph_buffer b = buffer(TENSOR_U8, DIMS(1, 3, SIDE, SIDE));
    size_t n;
    char *file = jpeg_of(TJPF_CMYK, TJSAMP_444, &n);

    put("k.jpg", file, n);
    expect(&b, "k.jpg", VPU_ERR_UNSUPPORTED, "CMYK");
}
END_TEST

/* A head that announces more than the file has, or than anybody wants. */
START_TEST(large_pictures)
{
    graph_buffer b = buffer(TENSOR_U8, DIMS(1, 8193, 8192));
    static const uint8_t head[] = {0x89, 'P', 'N',  'G', '\r', '\n', 0x1a, '\n',
                                   0,    0,   0,    13,  'I',  'H',  'D',  'R',
                                   0,    0,   0x20, 0,   0,    0,    0x20, 1,
                                   8,    0,   0,    0,   0};
    str s = {.arena = a};
    uint32_t crc = checksum(head + 12, 17);

    str_add(&s, head, sizeof head);
    for (int i = 3; i >= 0; i--)
        str_add(&s, &(char){(char)(crc >> 8 * i)}, 1);
    str_add(&s, "\0\0\0\0IDAT\x35\xaf\x06\x1e", 12);
    put("p.png", s.data, s.n);
    expect(&b, "p.png", VPU_ERR_LIMIT,
           "8192 x 8193 pixels, the limit is 67108864");
}
END_TEST

/* --- kinds --------------------------------------------------------------- */

static const struct {
    const char *name, *bytes;
    size_t n;
    vpu_status st;
    const char *says;
} kinds[] = {
    {"x.png", "\xff\xd8\xff\xe0", 4, VPU_ERR_PARSE,
     "not a PNG picture but a JPEG picture; end its name in .jpg"},
    {"x.jpg", "\x89PNG\r\n\x1a\n", 8, VPU_ERR_PARSE,
     "not a JPEG picture but a PNG picture; end its name in .png"},
    {"x.jpeg:mean=1", "GIF89a", 6, VPU_ERR_PARSE,
     "not a JPEG picture but a GIF picture; save it as PNG"},
    {"x.npz", "\x93NUMPY", 6, VPU_ERR_PARSE,
     "not an archive .npz but a NumPy file; end its name in .npy"},
    {"x.png", "RIFF\x10\0\0\0WEBPVP8 ", 16, VPU_ERR_PARSE, "a WebP picture"},
    {"x.npz", "hello", 5, VPU_ERR_PARSE,
     "not an archive .npz: the file begins with the bytes 68 65 6c 6c"},
    {"x.png", "", 0, VPU_ERR_PARSE, "not a PNG picture: the file has 0 bytes"},
    {"x.png", "\x89PNG\r\n\x1a\n", 8, VPU_ERR_PARSE, "damaged PNG picture"},
    {"x.jpg", "\xff\xd8\xff\xe0", 4, VPU_ERR_PARSE, "damaged JPEG picture"},
    {"x.npz", "PK\3\4", 4, VPU_ERR_PARSE, "damaged"},
    {"x.npy:x", "", 0, VPU_ERR_INVALID, "expected zeros, ramp, random:SEED"},
    {"x.bmp", "BM", 2, VPU_ERR_INVALID, ".npy, .npz, .png, .jpg or .jpeg"},
};

START_TEST(other_kinds)
{
    graph_buffer b = buffer(TENSOR_U8, DIMS(3, H, W));
    const char *colon = strchr(kinds[_i].name, ':');

    put(arena_strndup(a, kinds[_i].name,
                      colon ? (size_t)(colon - kinds[_i].name)
                            : strlen(kinds[_i].name)),
        kinds[_i].bytes, kinds[_i].n);
    expect(&b, kinds[_i].name, kinds[_i].st, kinds[_i].says);
}
END_TEST

/* An ending alone is no file's name. */
START_TEST(only_an_ending)
{
    graph_buffer b = buffer(TENSOR_U8, DIMS(3, H, W));
    uint8_t data[3 * H * W];

    ck_assert_int_eq(graph_input_fill(&b, ".png", data, &err), VPU_ERR_INVALID);
    ck_assert_int_eq(graph_input_fill(&b, ".npz:x", data, &err),
                     VPU_ERR_INVALID);
}
END_TEST

/* Cut anywhere it is an error; changed anywhere it does no harm. */
START_TEST(damaged_pictures)
{
    graph_buffer b = buffer(TENSOR_U8, DIMS(3, _i ? SIDE : H, _i ? SIDE : W));
    const char *name = _i ? "d.jpg" : "d.png";
    char *file;
    size_t n;

    if (_i) {
        file = jpeg_of(TJPF_RGB, TJSAMP_420, &n);
    } else {
        put_png("p.png", &forms[1]);
        ck_assert(!file_read(file_join(a, dir, "p.png"), 1 << 20, a, &file, &n,
                             &err));
    }
    put(name, file, n);
    ck_assert_msg(fill(&b, name) != NULL, "%s", err.msg);
    for (size_t i = 0; i < n; i++) {
        put(name, file, i);
        expect(&b, name, VPU_ERR_PARSE, name);
        file[i] ^= 0x24;
        put(name, file, n);
        fill(&b, name);
        file[i] ^= 0x24;
    }
}
END_TEST

int main(void)
{
    SRunner *r;
    Suite *s = suite_create("files");
    TCase *t = tcase_create("files");
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, arrays);
    tcase_add_test(t, channels_innermost);
    tcase_add_loop_test(t, refused_members, 0,
                        sizeof bad_members / sizeof *bad_members);
    tcase_add_test(t, bomb);
    tcase_add_test(t, refused_archives);
    tcase_add_loop_test(t, png_forms, 0, sizeof forms / sizeof *forms);
    tcase_add_test(t, values);
    tcase_add_test(t, grey);
    tcase_add_test(t, bytes);
    tcase_add_loop_test(t, refused_inputs, 0,
                        sizeof bad_inputs / sizeof *bad_inputs);
    tcase_add_test(t, jpeg);
    tcase_add_test(t, jpeg_of_printers);
    tcase_add_test(t, large_pictures);
    tcase_add_loop_test(t, other_kinds, 0, sizeof kinds / sizeof *kinds);
    tcase_add_test(t, only_an_ending);
    tcase_add_loop_test(t, damaged_pictures, 0, 2);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
