/* Which lines push each other out of L2, counted by hand. L1 has 16 sets of two
 * lines of 32 bytes, the part of L2 of one of 16 SHAVEs 128 sets of two lines
 * of 64: lines 8192 bytes apart share a set of both. */
#include "sim/machine/crowding.h"

#include <check.h>

#include "sim/machine/cache.h"

static mach_desc desc;
static mach_crowding found;
static vpu_error err;

static void setup(void)
{
    arena *a = arena_create(0);

    ck_assert_msg(!mach_desc_load(NULL, a, &desc, &err), "%s", err.msg);
    desc.l1d_bytes = 1024;
    desc.l1d_line = 32;
    desc.l1d_ways = desc.l2_ways = 2;
    desc.l2_bytes = 262144;
    desc.l2_line = 64;
    desc.l2_partition = 1;
    arena_destroy(a);
}

static void look_at(const uint64_t *list, size_t n)
{
    ck_assert_msg(!mach_crowding_of(&desc, 16, list, n, &found, &err), "%s",
                  err.msg);
    ck_assert_uint_eq(found.n_ways, 2);
    ck_assert_uint_eq(found.n_sets, 128);
}

static uint64_t load(uint32_t at)
{
    return MACH_ACCESS(0x80000000u + at, 4, 0);
}

/* Three lines in one set, ten times: each load misses, where any cache of three
 * lines would miss three times. */
START_TEST(three_lines_in_a_set_of_two)
{
    uint64_t list[30];

    for (uint32_t k = 0; k < 30; k++)
        list[k] = load(k % 3 * 8192);
    look_at(list, 30);
    ck_assert_uint_eq(found.fills, 30);
    ck_assert_uint_eq(found.avoidable, 27);
    ck_assert_uint_eq(found.n_lines, 3);
    for (uint32_t k = 0; k < 3; k++)
        ck_assert_uint_eq(found.lines[k], 0x80000000u + k * 8192);
}
END_TEST

/* The same lines a line further on each: three sets, nothing to avoid. */
START_TEST(three_lines_in_three_sets)
{
    uint64_t list[30];

    for (uint32_t k = 0; k < 30; k++)
        list[k] = load(k % 3 * (8192 + 64));
    look_at(list, 30);
    ck_assert_uint_eq(found.fills, 3);
    ck_assert_uint_eq(found.avoidable, 0);
}
END_TEST

/* 300 lines in a row do not fit into 256, however many sets there are. */
START_TEST(more_than_there_is_room_for)
{
    static uint64_t list[1200];

    for (uint32_t k = 0; k < 1200; k++)
        list[k] = load(k % 300 * 64);
    look_at(list, 1200);
    ck_assert_uint_ge(found.fills, 600);
    ck_assert_uint_eq(found.avoidable, 0);
}
END_TEST

/* A store's line is one of the crowd: three lines loaded, one stored to. */
START_TEST(a_store_pushes_out_loads)
{
    uint64_t list[40];

    for (uint32_t k = 0; k < 40; k++)
        list[k] = load(k % 4 * 8192) | (uint64_t)(k % 4 == 3) << 48;
    look_at(list, 40);
    ck_assert_uint_eq(found.fills, 30);
    ck_assert_uint_eq(found.avoidable, 27);
    ck_assert_uint_eq(found.n_lines, 4);
    ck_assert_uint_eq(found.lines[3], 0x80000000u + 3 * 8192);
}
END_TEST

START_TEST(nothing)
{
    look_at(NULL, 0);
    ck_assert_uint_eq(found.fills, 0);
    ck_assert_uint_eq(found.n_lines, 0);
    ck_assert_int_eq(mach_crowding_of(&desc, 17, NULL, 0, &found, &err),
                     VPU_ERR_INVALID);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("crowding");
    TCase *t = tcase_create("crowding");
    SRunner *r = srunner_create(s);
    int failed;

    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, three_lines_in_a_set_of_two);
    tcase_add_test(t, three_lines_in_three_sets);
    tcase_add_test(t, more_than_there_is_room_for);
    tcase_add_test(t, a_store_pushes_out_loads);
    tcase_add_test(t, nothing);
    suite_add_tcase(s, t);
    srunner_run_all(r, CK_ENV);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
