/* .npy files: what is read, what is refused, and the round trip. */
#include "runtime/graph/npy.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"

static arena *a;
static vpu_error err;
static tensor t;

static void setup(void)
{
    a = arena_create(0);
    memset(&err, 0, sizeof err);
}

static void teardown(void)
{
    arena_destroy(a);
}

/* A file of that version, header text and number of data bytes. */
static vpu_status parse(int version, const char *head, size_t n_data)
{
    size_t n = strlen(head);
    unsigned char pre[12] = {0x93,
                             'N',
                             'U',
                             'M',
                             'P',
                             'Y',
                             (unsigned char)version,
                             0,
                             (unsigned char)n,
                             (unsigned char)(n >> 8)};
    str s = {0};
    char *exact;
    vpu_status st;

    str_add(&s, pre, version == 1 ? 10 : 12);
    str_puts(&s, head);
    for (size_t i = 0; i < n_data; i++)
        str_add(&s, &(char){(char)i}, 1);
    exact = malloc(s.n);
    memcpy(exact, s.data, s.n);
    st = npy_parse(exact, s.n, "x.npy", a, &t, &err);
    if (!st)
        t.data = arena_memdup(a, t.data, tensor_bytes(&t.desc));
    free(exact);
    str_free(&s);
    return st;
}

#define HEAD(d, o, s) \
    "{'descr': '" d "', 'fortran_order': " o ", 'shape': " s ", }\n"

#define SPACES32 "                                "
#define SPACES \
    SPACES32 SPACES32 SPACES32 SPACES32 SPACES32 SPACES32 SPACES32 SPACES32 "\n"

static const struct {
    int version;
    const char *head;
    size_t n_data;
    const char *desc;
} good[] = {
    {1, HEAD("<f2", "False", "(1, 2, 3)"), 12, "f16 1x2x3"},
    {2, HEAD("<f4", "False", "(5,)"), 20, "f32 5"},
    {3, HEAD("<i4", "False", "()"), 4, "i32 scalar"},
    {1, HEAD("|u1", "False", "(2, 2)"), 4, "u8 2x2"},
    {1, HEAD("|i1", "False", "(2,2,)"), 4, "i8 2x2"},
    {1, HEAD("<i2", "False", "(3,)"), 6, "i16 3"},
    {1, HEAD("<u2", "False", "(3,)"), 6, "u16 3"},
    {1, HEAD("<i8", "False", "(3,)"), 24, "i64 3"},
    {1, "{\"shape\":(3,),\"descr\":\"<f2\",\"fortran_order\":False}", 6,
     "f16 3"},
    {1, HEAD("<f2", "False", "(1, 1, 1, 1, 7)") "     \n", 14, "f16 1x1x1x1x7"},
    /* Keys in every order. */
    {1, "{'descr':'<i2','shape':(2,3),'fortran_order':False}", 12, "i16 2x3"},
    {1, "{'fortran_order':False,'descr':'<i2','shape':(2,3)}", 12, "i16 2x3"},
    {1, "{'fortran_order':False,'shape':(2,3),'descr':'<i2'}", 12, "i16 2x3"},
    {1, "{'shape':(2,3),'fortran_order':False,'descr':'<i2'}", 12, "i16 2x3"},
    /* More than 255 bytes: the length's second byte counts. */
    {1, HEAD("<i2", "False", "(2, 3)") SPACES, 12, "i16 2x3"},
    {2, HEAD("<i2", "False", "(2, 3)") SPACES, 12, "i16 2x3"},
};

START_TEST(reads)
{
    ck_assert_msg(!parse(good[_i].version, good[_i].head, good[_i].n_data),
                  "%s", err.msg);
    ck_assert_str_eq(tensor_desc_text(a, &t.desc), good[_i].desc);
    for (size_t i = 0; i < good[_i].n_data; i++)
        ck_assert_uint_eq(((unsigned char *)t.data)[i], i);
}
END_TEST

static const struct {
    int version;
    const char *head;
    size_t n_data;
    vpu_status st;
    const char *says;
} bad[] = {
    {4, HEAD("<f2", "False", "(1,)"), 2, VPU_ERR_UNSUPPORTED, "version 4.0"},
    {0, HEAD("<f2", "False", "(1,)"), 2, VPU_ERR_UNSUPPORTED, "version 0.0"},
    {1, HEAD("<f8", "False", "(1,)"), 8, VPU_ERR_UNSUPPORTED, "'<f8'"},
    {1, HEAD(">f2", "False", "(1,)"), 2, VPU_ERR_UNSUPPORTED, "'>f2'"},
    {1, HEAD("|O", "False", "(1,)"), 2, VPU_ERR_UNSUPPORTED, "'|O'"},
    {1, "{'descr': [('a', '<f2')], 'fortran_order': False, 'shape': (1,)}", 2,
     VPU_ERR_UNSUPPORTED, "plain element type"},
    {1, HEAD("<f2", "True", "(1,)"), 2, VPU_ERR_UNSUPPORTED, "Fortran order"},
    {1, HEAD("<f2", "0", "(1,)"), 2, VPU_ERR_PARSE, "neither True nor False"},
    {1, HEAD("<f2", "False", "1"), 2, VPU_ERR_PARSE, "not a tuple"},
    {1, HEAD("<f2", "False", "(1)"), 2, VPU_ERR_PARSE, "not a tuple"},
    {1, HEAD("<f2", "False", "(-1,)"), 2, VPU_ERR_PARSE, "tuple of numbers"},
    {1, HEAD("<f2", "False", "(1 2)"), 2, VPU_ERR_PARSE, "tuple of numbers"},
    {1, HEAD("<f2", "False", "(0,)"), 0, VPU_ERR_INVALID, "dim 0"},
    {1, HEAD("<f2", "False", "(1,1,1,1,1,1)"), 2, VPU_ERR_UNSUPPORTED,
     "more than 5 dims"},
    {1, HEAD("<f2", "False", "(4294967296,)"), 2, VPU_ERR_LIMIT, "a dim above"},
    {1, HEAD("<f2", "False", "(4294967295,4294967295)"), 2, VPU_ERR_LIMIT,
     "4 GiB"},
    {1, HEAD("<f2", "False", "(3,)"), 5, VPU_ERR_PARSE,
     "5 bytes of elements; the shape, f16 3, needs 6"},
    {1, HEAD("<f2", "False", "(3,)"), 7, VPU_ERR_PARSE, "7 bytes of elements"},
    {1, "{'descr': '<f2', 'shape': (3,)}", 6, VPU_ERR_PARSE, "is missing"},
    {1, "{'descr': '<f2', 'fortran_order': False}", 6, VPU_ERR_PARSE,
     "is missing"},
    {1, "{'shape': (3,), 'fortran_order': False}", 6, VPU_ERR_PARSE,
     "is missing"},
    {1, "{'descr': '<f2', 'descr': '<f2'}", 6, VPU_ERR_PARSE, "occurs twice"},
    {1, "{'shape': (3,), 'shape': (3,)}", 6, VPU_ERR_PARSE, "occurs twice"},
    {1, "{'fortran_order': False, 'fortran_order': False}", 6, VPU_ERR_PARSE,
     "occurs twice"},
    {1, "{'order': 1}", 6, VPU_ERR_PARSE, "unknown key"},
    {1, "{'descr' '<f2'}", 6, VPU_ERR_PARSE, "expected ':'"},
    {1, "{'descr': '<f2' 'shape'", 6, VPU_ERR_PARSE, "expected ',' or '}'"},
    {1, "{'descr': '<f2", 0, VPU_ERR_UNSUPPORTED, "plain element type"},
    {1, "{", 0, VPU_ERR_PARSE, "expected a key"},
    {1, "x", 0, VPU_ERR_PARSE, "expected '{'"},
    {1, "", 0, VPU_ERR_PARSE, "expected '{'"},
    {1, HEAD("<f2", "False", "(1,)") "x", 2, VPU_ERR_PARSE, "text behind"},
};

START_TEST(refuses)
{
    vpu_status st = parse(bad[_i].version, bad[_i].head, bad[_i].n_data);

    ck_assert_msg(st == bad[_i].st, "case %d: %d %s", _i, st, err.msg);
    ck_assert_msg(strstr(err.msg, bad[_i].says) != NULL, "%s", err.msg);
    ck_assert_msg(!strncmp(err.msg, "x.npy: ", 7), "%s", err.msg);
}
END_TEST

START_TEST(truncated_and_hostile)
{
    static const char whole[] =
        "\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '<f2'";

    for (size_t n = 0; n < sizeof whole - 1; n++) {
        char *exact = malloc(n ? n : 1);

        memcpy(exact, whole, n);
        ck_assert(npy_parse(exact, n, "x.npy", a, &t, &err) != VPU_OK);
        ck_assert_msg(
            strstr(err.msg, n < 10 ? "not a .npy file" : "bytes in a file of"),
            "%zu: %s", n, err.msg);
        free(exact);
    }
    ck_assert_int_eq(npy_read("/nowhere.npy", a, &t, &err), VPU_ERR_IO);
}
END_TEST

START_TEST(round_trip)
{
    char dir[] = "/tmp/npy_testXXXXXX";
    uint32_t rng = 99;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    for (int n = 0; n < 96; n++) {
        tensor in = {.desc = {.dtype = (tensor_dtype)(n % TENSOR_N_DTYPES),
                              .rank = (uint32_t)(n % 6)}};
        char *path = arena_printf(a, "%s/t.npy", dir);
        unsigned char *bytes, *plain;
        size_t size;

        for (uint32_t i = 0; i < in.desc.rank; i++)
            in.desc.dims[i] = 1 + (rng = rng * 1103515245 + 12345) / 65536 % 7;
        in.desc.layout = n % 2 ? TENSOR_CHANNEL_MINOR : TENSOR_PLAIN;
        size = tensor_bytes(&in.desc);
        in.data = bytes = arena_push(a, size, 1, 16);
        plain = arena_push(a, size, 1, 16);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (unsigned char)((rng = rng * 1103515245 + 12345) >> 16);
        tensor_relayout(&in.desc, bytes, TENSOR_PLAIN, plain);
        ck_assert_msg(!npy_write(path, &in, &err), "%s", err.msg);
        ck_assert_msg(!npy_read(path, a, &t, &err), "%s", err.msg);
        ck_assert_int_eq(t.desc.dtype, in.desc.dtype);
        ck_assert_uint_eq(t.desc.rank, in.desc.rank);
        ck_assert_mem_eq(t.desc.dims, in.desc.dims, sizeof in.desc.dims);
        ck_assert_mem_eq(t.data, plain, size);
        unlink(path);
    }
    rmdir(dir);
}
END_TEST

START_TEST(written_bytes)
{
    static const char head[] = "\x93NUMPY\x01\x00\x76\x00{'descr': '|u1', "
                               "'fortran_order': False, 'shape': (2, 3), }";
    char dir[] = "/tmp/npy_testXXXXXX", *path, *data;
    uint8_t bytes[] = {1, 2, 3, 4, 5, 6};
    tensor in = {{.dtype = TENSOR_U8, .rank = 2, .dims = {2, 3}}, bytes};
    size_t n;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    path = arena_printf(a, "%s/t.npy", dir);
    ck_assert_msg(!npy_write(path, &in, &err), "%s", err.msg);
    ck_assert(!file_read(path, 1000, a, &data, &n, &err));
    ck_assert_uint_eq(n, 128 + 6);
    ck_assert_mem_eq(data, head, sizeof head - 1);
    ck_assert_int_eq(data[127], '\n');
    ck_assert_mem_eq(data + 128, bytes, 6);
    in.desc.dims[1] = 0;
    ck_assert_int_eq(npy_write(path, &in, &err), VPU_ERR_INVALID);
    unlink(path);
    rmdir(dir);
    in.desc.dims[1] = 3;
    ck_assert_int_eq(npy_write(path, &in, &err), VPU_ERR_IO);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("npy");
    TCase *c = tcase_create("npy");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, reads, 0, sizeof good / sizeof *good);
    tcase_add_loop_test(c, refuses, 0, sizeof bad / sizeof *bad);
    tcase_add_test(c, truncated_and_hostile);
    tcase_add_test(c, round_trip);
    tcase_add_test(c, written_bytes);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
