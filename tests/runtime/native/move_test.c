/* Copy, Permute and Convert: elements at other places and of other types. */
#include <check.h>
#include <math.h>

#include "tests/runtime/native/stage_rig.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static stage_rig r;

static uint32_t type_of(uint32_t k)
{
    static const uint32_t types[] = {BLOB_F16, BLOB_U8, BLOB_S32, BLOB_F32};

    return types[k % 4];
}

START_TEST(copies)
{
    static const uint32_t orders[] = {0x4321, 0x4213, 0x321, 0x43, 3};

    for (uint32_t k = 0; k < 8 * COUNT(orders); k++) {
        unit_start(&r, 19, k & 1);
        unit_in(&r, type_of(k / 2), orders[k / 8], 7, 5, 3, 2);
        r.gaps = k & 2;
        unit_out(&r, type_of(k / 2), orders[k / 8], 7, 5, 3, 2);
        unit_fill(&r, 0, 0, 99);
        unit_run(&r);
        for (uint64_t i = 0; i < r.n[0]; i++)
            ck_assert_double_eq(r.v[1][i], r.v[0][i]);
        unit_end(&r);
    }
}
END_TEST

/* Dims of the same letters are the same, wherever they lie. */
START_TEST(other_orders)
{
    unit_start(&r, 19, true);
    unit_in(&r, BLOB_F16, 0x4321, 7, 5, 3, 2);
    unit_out(&r, BLOB_F16, 0x4213, 3, 7, 5, 2);
    unit_fill(&r, 0, 0, 99);
    unit_run(&r);
    for (uint32_t n = 0; n < 2; n++)
        for (uint32_t c = 0; c < 3; c++)
            for (uint32_t h = 0; h < 5; h++)
                for (uint32_t w = 0; w < 7; w++)
                    ck_assert_double_eq(*unit_at(&r, 1, n, c, h, w),
                                        *unit_at(&r, 0, n, c, h, w));
    unit_end(&r);
}
END_TEST

/* Any order of three dims, and one of six. */
START_TEST(permutations)
{
    static const uint32_t ways[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const uint32_t dims[] = {4, 3, 5};

    for (uint32_t k = 0; k < 4 * COUNT(ways); k++) {
        const uint32_t *way = ways[k / 4];

        unit_start(&r, 34, k & 1);
        for (uint32_t i = 0; i < 8; i++)
            unit_word(&r, i < 3 ? (int)way[i] : -1);
        unit_in(&r, type_of(k), 0x321, 4, 3, 5);
        unit_out(&r, type_of(k), 0x321, dims[way[0]], dims[way[1]],
                 dims[way[2]]);
        unit_fill(&r, 0, 0, 99);
        unit_run(&r);
        for (uint32_t i = 0; i < r.n[0]; i++) {
            const uint32_t at[] = {i % 4, i / 4 % 3, i / 12};

            ck_assert_double_eq(
                r.v[1][at[way[0]] +
                       dims[way[0]] * (at[way[1]] + dims[way[1]] * at[way[2]])],
                r.v[0][i]);
        }
        unit_end(&r);
    }
}
END_TEST

/* As space to depth has it: both remainders become channels. */
START_TEST(six_dims)
{
    static const int way[] = {1, 3, 0, 2, 4, 5, -1, -1};

    unit_start(&r, 34, true);
    for (uint32_t i = 0; i < 8; i++)
        unit_word(&r, way[i]);
    unit_in(&r, BLOB_F16, 0x654321, 2, 3, 2, 5, 4, 1);
    unit_out(&r, BLOB_F16, 0x654321, 3, 5, 2, 2, 4, 1);
    unit_fill(&r, 0, 0, 99);
    unit_run(&r);
    for (uint32_t i = 0; i < r.n[0]; i++) {
        uint32_t a = i % 2, b = i / 2 % 3, c = i / 6 % 2, d = i / 12 % 5;
        uint32_t e = i / 60;

        ck_assert_double_eq(r.v[1][b + 3 * (d + 5 * (a + 2 * (c + 2 * e)))],
                            r.v[0][i]);
    }
    unit_end(&r);
}
END_TEST

START_TEST(conversions)
{
    static const uint32_t pairs[][2] = {
        {BLOB_U8, BLOB_F16},  {BLOB_F16, BLOB_F32}, {BLOB_F32, BLOB_F16},
        {BLOB_S32, BLOB_F16}, {BLOB_F16, BLOB_S32}, {BLOB_S32, BLOB_U8}};

    for (uint32_t k = 0; k < 4 * COUNT(pairs); k++) {
        double scale = k & 1 ? 0.5 : 1, bias = k & 1 ? 3 : 0;
        const uint32_t *pair = pairs[k / 4];

        unit_start(&r, 111, k & 2);
        unit_float(&r, scale);
        unit_float(&r, bias);
        unit_word(&r, 0);
        unit_word(&r, 1);
        unit_in(&r, pair[0], 0x321, 7, 5, 3);
        unit_out(&r, pair[1], 0x321, 7, 5, 3);
        unit_fill(&r, 0, pair[1] == BLOB_U8 ? -99 : 0, 399);
        for (uint64_t i = 0; i < r.n[0] && pair[0] == BLOB_U8; i++)
            unit_set(&r, 0, i, unit_below(&r, 256));
        unit_run(&r);
        for (uint64_t i = 0; i < r.n[0]; i++) {
            double v = r.v[0][i] * scale + bias;

            if (pair[1] == BLOB_U8)
                v = fmin(255, fmax(0, v));
            if (pair[1] == BLOB_U8 || pair[1] == BLOB_S32)
                ck_assert_double_eq(r.v[1][i], trunc(v));
            else
                unit_near(r.v[1][i], v, 0);
        }
        unit_end(&r);
    }
}
END_TEST

/* The result lies in a part of what it is made from. */
START_TEST(in_place)
{
    for (int behind = -5; behind < 6; behind++) {
        unit_start(&r, 34, false);
        for (uint32_t i = 0; i < 8; i++)
            unit_word(&r, i < 2 ? 1 - (int)i : -1);
        unit_in(&r, BLOB_F16, 0x43, 70, 90);
        unit_out(&r, BLOB_F16, 0x43, 90, 70);
        unit_share(&r, 0, 1, behind);
        unit_fill(&r, 0, 0, 99);
        unit_run(&r);
        for (uint32_t i = 0; i < r.n[0]; i++)
            ck_assert_double_eq(r.v[1][i / 70 + i % 70 * 90], r.v[0][i]);
        unit_end(&r);
    }
}
END_TEST

START_TEST(nothing)
{
    unit_start(&r, 5, false);
    unit_run(&r);
    unit_in(&r, BLOB_F16, 3, 1);
    unit_fails(&r, VPU_ERR_PARSE, "1 buffers, expected 0");
    unit_end(&r);
}
END_TEST

START_TEST(wrong_records)
{
    unit_start(&r, 34, false);
    for (uint32_t i = 0; i < 8; i++)
        unit_word(&r, i < 2 ? 1 - (int)i : -1);
    unit_in(&r, BLOB_F16, 0x43, 4, 3);
    unit_out(&r, BLOB_F16, 0x43, 4, 3);
    unit_fails(&r, VPU_ERR_PARSE, "dim 0 of the output, of size 4");
    r.words[0] = 8;
    unit_fails(&r, VPU_ERR_PARSE, "an index of a dim is 8");
    r.words[0] = 1;
    r.words[5] = 2;
    r.buffers[1].desc.dims[0] = 3;
    r.buffers[1].desc.dims[1] = 4;
    r.buffers[1].desc.strides[1] = 6;
    unit_fails(&r, VPU_ERR_PARSE, "names a dim, the output has 2");
    unit_end(&r);

    unit_start(&r, 19, false);
    unit_in(&r, BLOB_F16, 0x43, 4, 3);
    unit_out(&r, BLOB_F32, 0x43, 4, 3);
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "from FP16 to FP32");
    unit_end(&r);

    unit_start(&r, 19, false);
    unit_in(&r, BLOB_F16, 0x43, 4, 3);
    unit_constant(&r, BLOB_F16, 0x43, 4, 3);
    unit_fails(&r, VPU_ERR_PARSE, "written at location");
    unit_end(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("move");
    TCase *t = tcase_create("move");
    SRunner *runner;
    int bad;

    tcase_add_test(t, copies);
    tcase_add_test(t, other_orders);
    tcase_add_test(t, permutations);
    tcase_add_test(t, six_dims);
    tcase_add_test(t, conversions);
    tcase_add_test(t, in_place);
    tcase_add_test(t, nothing);
    tcase_add_test(t, wrong_records);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    bad = srunner_ntests_failed(runner);
    srunner_free(runner);
    return bad != 0;
}
