/* Element types, sizes, half conversion, relayout. */
#include "runtime/graph/tensor.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(dtypes)
{
    static const char *const names[] = {"f16", "f32", "i32", "u8",
                                        "i8",  "i16", "u16", "i64"};
    static const uint32_t bytes[] = {2, 4, 4, 1, 1, 2, 2, 8};
    tensor_dtype t;

    for (int i = 0; i < TENSOR_N_DTYPES; i++) {
        ck_assert(tensor_dtype_parse(names[i], &t));
        ck_assert_int_eq(t, i);
        ck_assert_str_eq(tensor_dtype_name(t), names[i]);
        ck_assert_uint_eq(tensor_dtype_bytes(t), bytes[i]);
    }
    ck_assert(tensor_dtype_parse("FP32", &t) && t == TENSOR_F32);
    ck_assert(tensor_dtype_parse("fp16", &t) && t == TENSOR_F16);
    ck_assert(tensor_dtype_parse("BOOL", &t) && t == TENSOR_U8);
    ck_assert(!tensor_dtype_parse("f64", &t));
    ck_assert(!tensor_dtype_parse("", &t));
}
END_TEST

START_TEST(sizes)
{
    tensor_desc d = {.dtype = TENSOR_F16, .rank = 4, .dims = {1, 24, 128, 512}};
    arena *a = arena_create(0);
    vpu_error err;

    ck_assert_uint_eq(tensor_bytes(&d), 2u * 24 * 128 * 512);
    ck_assert_str_eq(tensor_desc_text(a, &d), "f16 1x24x128x512");
    ck_assert_int_eq(tensor_desc_check(&d, &err), VPU_OK);
    d.rank = 0;
    ck_assert_uint_eq(tensor_bytes(&d), 2);
    ck_assert_str_eq(tensor_desc_text(a, &d), "f16 scalar");
    d = (tensor_desc){.dtype = TENSOR_I64, .rank = 5};
    for (int i = 0; i < 5; i++)
        d.dims[i] = UINT32_MAX;
    ck_assert(tensor_elements(&d) == UINT64_MAX);
    ck_assert(tensor_bytes(&d) == UINT64_MAX);
    ck_assert_int_eq(tensor_desc_check(&d, &err), VPU_ERR_LIMIT);
    d.dims[3] = 0;
    ck_assert_uint_eq(tensor_elements(&d), 0);
    ck_assert_int_eq(tensor_desc_check(&d, &err), VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, "dim 3 of the tensor is 0"));
    d = (tensor_desc){.rank = 6};
    ck_assert_int_eq(tensor_desc_check(&d, &err), VPU_ERR_INVALID);
    d = (tensor_desc){.dtype = TENSOR_U8, .rank = 2, .dims = {65536, 65536}};
    ck_assert_int_eq(tensor_desc_check(&d, &err), VPU_OK);
    d.dims[0]++;
    ck_assert_int_eq(tensor_desc_check(&d, &err), VPU_ERR_LIMIT);
    arena_destroy(a);
}
END_TEST

static const struct {
    float f;
    uint16_t h;
} halves[] = {
    {0.0f, 0x0000},       {-0.0f, 0x8000},      {1.0f, 0x3c00},
    {-2.0f, 0xc000},      {65504.0f, 0x7bff},   {65519.0f, 0x7bff},
    {65520.0f, 0x7c00},   {1e10f, 0x7c00},      {-INFINITY, 0xfc00},
    {0x1p-14f, 0x0400},   {0x1p-24f, 0x0001},   {0x1p-25f, 0x0000},
    {0x1.8p-25f, 0x0001}, {0x1.8p-24f, 0x0002}, {0x1.ffep-15f, 0x0400},
    {0.1f, 0x2e66},       {2049.0f, 0x6800},    {2051.0f, 0x6802},
    {0x1p-40f, 0x0000},
};

START_TEST(half_rounding)
{
    ck_assert_msg(tensor_f32_to_f16(halves[_i].f) == halves[_i].h,
                  "%a gives %04x, not %04x", (double)halves[_i].f,
                  tensor_f32_to_f16(halves[_i].f), halves[_i].h);
}
END_TEST

START_TEST(every_half_survives)
{
    for (uint32_t h = 0; h < 65536; h++) {
        float f = tensor_f16_to_f32((uint16_t)h);

        if ((h & 0x7c00) == 0x7c00 && (h & 0x3ff)) {
            ck_assert(isnan(f));
            ck_assert(isnan(tensor_f16_to_f32(tensor_f32_to_f16(f))));
        } else {
            ck_assert_msg(tensor_f32_to_f16(f) == h, "%04x", h);
        }
    }
}
END_TEST

/* Between two halves one behind the other the nearer is taken, in the middle
 * the even one; behind the greatest comes infinity, as if 65536 were a half. */
START_TEST(every_half_rounds)
{
    for (uint16_t h = 0; h < 0x7c00; h++) {
        float low = tensor_f16_to_f32(h);
        float high = h == 0x7bff ? 65536 : tensor_f16_to_f32(h + 1);
        float middle = (low + high) / 2; /* exact: it has one bit more */
        uint16_t even = h & 1 ? h + 1 : h;

        ck_assert_uint_eq(tensor_f32_to_f16(middle), even);
        ck_assert_uint_eq(tensor_f32_to_f16(-middle), even | 0x8000);
        ck_assert_uint_eq(tensor_f32_to_f16(nextafterf(middle, low)), h);
        ck_assert_uint_eq(tensor_f32_to_f16(nextafterf(middle, high)), h + 1);
    }
}
END_TEST

START_TEST(order_of_channels)
{
    static const uint8_t chw[] = {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16};
    static const uint8_t hwc[] = {1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16};
    tensor_desc d = {.dtype = TENSOR_U8, .rank = 3, .dims = {2, 2, 3}};
    uint8_t out[12];

    tensor_relayout(&d, chw, TENSOR_CHANNEL_MINOR, out);
    ck_assert_mem_eq(out, hwc, 12);
    d.layout = TENSOR_CHANNEL_MINOR;
    tensor_relayout(&d, hwc, TENSOR_PLAIN, out);
    ck_assert_mem_eq(out, chw, 12);
    d = (tensor_desc){.dtype = TENSOR_U8, .rank = 2, .dims = {3, 4}};
    tensor_relayout(&d, chw, TENSOR_CHANNEL_MINOR, out);
    ck_assert_mem_eq(out, chw, 12);
}
END_TEST

/* For many shapes of every type and rank: each element is where the formula
 * says, and there and back is the identity. */
START_TEST(relayout_round_trip)
{
    uint32_t rng = 12345;

    for (int n = 0; n < 300; n++) {
        tensor_desc d = {.dtype = (tensor_dtype)(n % TENSOR_N_DTYPES),
                         .rank = (uint32_t)(n % 6)};
        size_t bytes, size = tensor_dtype_bytes(d.dtype);
        unsigned char *x, *y, *z;

        for (uint32_t i = 0; i < d.rank; i++)
            d.dims[i] = 1 + (rng = rng * 1103515245 + 12345) / 65536 % 9;
        if (n % 50 == 3 && d.rank == 3)
            d.dims[1] = 71;
        bytes = tensor_bytes(&d);
        x = malloc(bytes), y = malloc(bytes), z = malloc(bytes);
        for (size_t i = 0; i < bytes; i++)
            x[i] = (unsigned char)((rng = rng * 1103515245 + 12345) >> 16);
        tensor_relayout(&d, x, TENSOR_CHANNEL_MINOR, y);
        if (d.rank == 4)
            for (size_t b = 0; b < d.dims[0]; b++)
                for (size_t c = 0; c < d.dims[1]; c++)
                    for (size_t i = 0; i < (size_t)d.dims[2] * d.dims[3]; i++) {
                        size_t hw = (size_t)d.dims[2] * d.dims[3];

                        ck_assert_mem_eq(
                            x + ((b * d.dims[1] + c) * hw + i) * size,
                            y + ((b * hw + i) * d.dims[1] + c) * size, size);
                    }
        d.layout = TENSOR_CHANNEL_MINOR;
        tensor_relayout(&d, y, TENSOR_PLAIN, z);
        ck_assert_mem_eq(x, z, bytes);
        free(x), free(y), free(z);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tensor");
    TCase *t = tcase_create("tensor");
    SRunner *r;
    int failed;

    tcase_add_test(t, dtypes);
    tcase_add_test(t, sizes);
    tcase_add_loop_test(t, half_rounding, 0, sizeof halves / sizeof *halves);
    tcase_add_test(t, every_half_survives);
    tcase_add_test(t, every_half_rounds);
    tcase_add_test(t, order_of_channels);
    tcase_add_test(t, relayout_round_trip);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
