/* What stages on SHAVEs cost: bytes, and multiply-adds counted here by hand. */
#include <check.h>

#include "runtime/native/cost.h"
#include "tests/runtime/native/stage_rig.h"

static stage_rig r;

/* Cycles of all SHAVEs less those for bytes, as multiply-adds. */
static double products(void)
{
    mach_desc d;
    vpu_error err = {0};
    mach_work w[MACH_MAX_WORKS];
    uint64_t bytes = 0;

    ck_assert(!mach_desc_load(NULL, r.a, &d, &err));
    ck_assert_uint_eq(native_cost(unit_make(&r), &d, "x", r.a, w), 1);
    ck_assert_int_eq(w->unit, MACH_WORK_SHAVE);
    for (uint32_t t = 0; t < r.s.n_buffers; t++)
        bytes += r.n[t] * blob_type_bytes(r.buffers[t].desc.type);
    return (w->issue - (double)bytes * d.native_byte) * d.native_mac;
}

static void words(uint32_t n, const uint32_t *v)
{
    for (uint32_t i = 0; i < n; i++)
        unit_word(&r, v[i]);
}

START_TEST(product_of_matrices)
{
    unit_start(&r, 91, false);
    unit_float(&r, 1);
    unit_float(&r, 0);
    words(3, (uint32_t[]){0, 0, 0});
    unit_in(&r, BLOB_F16, 0x4321, 11, 7, 3, 1);
    unit_in(&r, BLOB_F16, 0x4321, 5, 11, 3, 1);
    unit_out(&r, BLOB_F16, 0x4321, 5, 7, 3, 1);
    ck_assert_double_eq_tol(products(), 3 * 7 * 11 * 5, 1e-6);
    unit_end(&r);
}
END_TEST

START_TEST(windows)
{
    unit_start(&r, 1, false);
    words(7, (uint32_t[]){3, 2, 1, 1, 0, 0, 0});
    unit_in(&r, BLOB_F16, 0x4321, 10, 8, 4, 1);
    unit_out(&r, BLOB_F16, 0x4321, 8, 7, 4, 1);
    ck_assert_double_eq_tol(products(), 3 * 2 * 8 * 7 * 4, 1e-6);
    unit_end(&r);
}
END_TEST

/* Of a convolution those of its outputs, of a transposed one of its inputs. */
START_TEST(convolutions)
{
    for (uint32_t transposed = 0; transposed < 2; transposed++) {
        unit_start(&r, transposed ? 22 : 0, false);
        words(6, (uint32_t[]){2, 2, 2, 2, 0, 0});
        if (!transposed)
            words(2, (uint32_t[]){1, 1});
        unit_in(&r, BLOB_F16, 0x4321, transposed ? 5 : 10, transposed ? 4 : 8,
                3, 1);
        unit_out(&r, BLOB_F16, 0x4321, transposed ? 10 : 5, transposed ? 8 : 4,
                 6, 1);
        unit_constant(&r, BLOB_F16, 0x321, 6, 3, 4);
        unit_absent(&r);
        ck_assert_double_eq_tol(products(), 5 * 4 * 3 * 6 * 4, 1e-6);
        unit_end(&r);
    }
}
END_TEST

START_TEST(a_channel_alone)
{
    unit_start(&r, 8, false);
    words(8, (uint32_t[]){3, 3, 1, 1, 0, 0, 1, 1});
    unit_in(&r, BLOB_F16, 0x4321, 7, 6, 5, 1);
    unit_out(&r, BLOB_F16, 0x4321, 5, 4, 5, 1);
    unit_constant(&r, BLOB_F16, 0x43, 5, 9);
    unit_absent(&r);
    ck_assert_double_eq_tol(products(), 5 * 4 * 5 * 9, 1e-6);
    unit_end(&r);
}
END_TEST

START_TEST(fully_connected)
{
    unit_start(&r, 4, false);
    unit_in(&r, BLOB_F16, 0x4321, 1, 1, 12, 1);
    unit_out(&r, BLOB_F16, 0x4321, 1, 1, 7, 1);
    unit_constant(&r, BLOB_F16, 0x43, 7, 12);
    ck_assert_double_eq_tol(products(), 12 * 7, 1e-6);
    unit_end(&r);
}
END_TEST

START_TEST(steps_of_a_cell)
{
    unit_start(&r, 70, false);
    words(5, (uint32_t[]){1, 3, 2, 0, 1});
    unit_in(&r, BLOB_F16, 0x321, 6, 3, 2);
    unit_in(&r, BLOB_F16, 0x43, 4, 2);
    unit_in(&r, BLOB_F16, 0x43, 4, 2);
    unit_constant(&r, BLOB_F16, 3, 4 * 4 * (6 + 4));
    unit_absent(&r);
    unit_out(&r, BLOB_F16, 0x321, 4, 3, 2);
    unit_out(&r, BLOB_U8, 3, 2 * 4);
    ck_assert_double_eq_tol(products(), 3 * 2 * 4 * 4 * (6 + 4), 1e-6);
    unit_end(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cost");
    TCase *t = tcase_create("cost");
    SRunner *runner;
    int bad;

    tcase_add_test(t, product_of_matrices);
    tcase_add_test(t, windows);
    tcase_add_test(t, convolutions);
    tcase_add_test(t, a_channel_alone);
    tcase_add_test(t, fully_connected);
    tcase_add_test(t, steps_of_a_cell);
    suite_add_tcase(s, t);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    bad = srunner_ntests_failed(runner);
    srunner_free(runner);
    return bad != 0;
}
