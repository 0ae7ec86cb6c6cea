/* The time of stages of networks, by hand. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "sim/machine/stage.h"

static arena *a;
static mach_desc d;
static mach_profile p;

static void setup(void)
{
    vpu_error err = {0};

    a = arena_create(0);
    ck_assert_int_eq(mach_desc_load(NULL, a, &d, &err), VPU_OK);
}

static void teardown(void)
{
    arena_destroy(a);
}

static uint64_t cycles_of(const mach_work *works, uint32_t n)
{
    vpu_error err = {0};

    ck_assert_msg(!mach_stage_run(&d, works, n, 0, NULL, &p, &err), "%s",
                  err.msg);
    return p.cycles;
}

static uint64_t seconds(double s)
{
    return (uint64_t)(s * (double)d.clk_mhz * 1e6 + 0.5);
}

START_TEST(descriptors_follow_each_other)
{
    const mach_descriptor list[] = {{1000, 0, 0}, {500, 0, 0}};
    const mach_work w = {
        .unit = MACH_WORK_NCE, .descriptors = list, .n_descriptors = 2};

    ck_assert_uint_eq(cycles_of(&w, 1),
                      d.native_stage + 2 * d.nce_descriptor + 1500);
    ck_assert_uint_eq(p.nce_cycles, 1500);
    ck_assert_uint_eq(p.nce_descriptors, 2);
}
END_TEST

/* While the engine is set up: few take no time of their own. */
START_TEST(weights_come_at_their_rate)
{
    const mach_descriptor few[] = {{1000, 1024, 0}};
    const mach_descriptor list[] = {{1000, 262144, 0}};
    const mach_work w = {
        .unit = MACH_WORK_NCE, .descriptors = list, .n_descriptors = 1};
    const mach_work quick = {
        .unit = MACH_WORK_NCE, .descriptors = few, .n_descriptors = 1};
    uint64_t expected =
        d.native_stage + 1000 + seconds(262144 / (d.nce_weight_bw * 1e9));

    ck_assert_uint_ge(cycles_of(&w, 1) + 2, expected);
    ck_assert_uint_le(p.cycles, expected + 2);
    ck_assert_uint_eq(p.ddr_bytes, 262144);
    ck_assert_uint_eq(cycles_of(&quick, 1),
                      d.native_stage + d.nce_descriptor + 1000);
}
END_TEST

/* Data in DDR are moved while the array computes: the slower of both counts. */
START_TEST(data_in_ddr_are_moved_meanwhile)
{
    const mach_descriptor few[] = {{100000, 0, 1000}},
                          many[] = {{1000, 0, 7500000}};
    mach_work w = {
        .unit = MACH_WORK_NCE, .descriptors = few, .n_descriptors = 1};
    uint64_t fixed = d.native_stage + d.nce_descriptor;

    ck_assert_uint_eq(cycles_of(&w, 1), fixed + 100000);
    w.descriptors = many;
    ck_assert_uint_ge(cycles_of(&w, 1) + 10,
                      fixed + seconds(7.5e6 / (d.ddr_eff_bw * 1e9)));
    ck_assert_uint_le(p.cycles,
                      fixed + 10 + seconds(7.5e6 / (d.ddr_eff_bw * 1e9)));
}
END_TEST

START_TEST(shaves_share_their_work)
{
    mach_work w = {.unit = MACH_WORK_SHAVE, .n_shaves = 1, .issue = 70000};

    ck_assert_uint_eq(cycles_of(&w, 1), d.native_stage + 70000);
    w.n_shaves = 7;
    ck_assert_uint_eq(cycles_of(&w, 1), d.native_stage + 10000);
    ck_assert_uint_eq(p.by_cause[6][MACH_CAUSE_ISSUE], 10000);
    ck_assert_uint_eq(p.by_cause[7][MACH_CAUSE_ISSUE], 0);
}
END_TEST

/* What is injected takes no time of its own unless it is the longer one, or
 * both want the DDR. */
START_TEST(an_injected_stage_is_beside)
{
    const mach_descriptor list[] = {{50000, 0, 0}},
                          loads[] = {{1000, 0, 7500000}};
    mach_work w[2] = {
        {.unit = MACH_WORK_NCE, .descriptors = list, .n_descriptors = 1},
        {.unit = MACH_WORK_SHAVE, .n_shaves = 2, .issue = 20000}};
    uint64_t alone = cycles_of(w, 1), both;

    ck_assert_uint_eq(cycles_of(w, 2), alone);
    w[1].issue = 400000;
    ck_assert_uint_eq(cycles_of(w, 2), d.native_stage + 200000);
    w[0].descriptors = loads;
    w[1] = (mach_work){.unit = MACH_WORK_COPY,
                       .bytes = 7500000,
                       .lines = 1,
                       .ddr_in = 7500000};
    alone = cycles_of(w, 1);
    both = cycles_of(w, 2);
    ck_assert_uint_gt(both, alone + alone / 2);
}
END_TEST

START_TEST(shaves_that_there_are_not)
{
    const mach_work w = {.unit = MACH_WORK_SHAVE, .n_shaves = 17, .issue = 1};
    const mach_work many[3] = {w, w, w};
    vpu_error err = {0};

    ck_assert_int_eq(mach_stage_run(&d, &w, 1, 0, NULL, &p, &err),
                     VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(
        strstr(err.msg, "17 SHAVEs in each of 1 executors; 1 to 16 are there"));
    ck_assert_int_eq(mach_stage_run(&d, many, 3, 0, NULL, &p, &err),
                     VPU_ERR_INVALID);
}
END_TEST

static mach_executors_result at_once(const mach_stage *stages, uint32_t count,
                                     uint32_t n, uint64_t fixed)
{
    mach_executors_result r = {0};
    vpu_error err = {0};

    ck_assert_msg(
        !mach_executors_run(&d, stages, count, n, fixed, NULL, NULL, &r, &err),
        "%s", err.msg);
    return r;
}

/* One executor takes what the stages take one after the other; two that move no
 * bytes do not notice each other. */
START_TEST(executors_share_nothing_but_the_memory)
{
    const mach_descriptor list[] = {{50000, 0, 0}, {1000, 0, 0}};
    const mach_work engine = {.unit = MACH_WORK_NCE,
                              .descriptors = list,
                              .n_descriptors = 2},
                    code = {
                        .unit = MACH_WORK_SHAVE, .n_shaves = 8, .issue = 4e5};
    const mach_work launch = {
        .unit = MACH_WORK_LAUNCH, .n_shaves = 8, .cycles = 123456};
    const mach_stage stages[] = {{&engine, 1}, {&code, 1}, {&launch, 1}};
    uint64_t sum = cycles_of(&engine, 1);
    mach_executors_result r;

    sum += cycles_of(&code, 1) + launch.cycles + 1000;
    r = at_once(stages, 3, 1, 1000);
    ck_assert_double_eq(r.latency, (double)sum);
    ck_assert_double_eq(r.period, (double)sum);
    r = at_once(stages, 3, 2, 1000);
    ck_assert_double_eq(r.latency, (double)sum);
    ck_assert_double_eq(r.period, (double)sum / 2);
}
END_TEST

/* Whoever moves them: what the memory alone bounds takes as long with one
 * executor as with two. */
START_TEST(executors_share_the_memory)
{
    const mach_descriptor loads[] = {{1000, 0, 7500000}};
    const mach_work works[] = {
        {.unit = MACH_WORK_NCE, .descriptors = loads, .n_descriptors = 1},
        {.unit = MACH_WORK_SHAVE,
         .n_shaves = 8,
         .issue = 1000,
         .ddr_in = 7500000},
        {.unit = MACH_WORK_COPY, .bytes = 7500000, .ddr_in = 7500000},
        {.unit = MACH_WORK_LAUNCH,
         .n_shaves = 8,
         .cycles = 1000,
         .ddr_out = 7500000}};

    for (uint32_t i = 0; i < 4; i++) {
        const mach_stage stage = {&works[i], 1};
        mach_executors_result one = at_once(&stage, 1, 1, 0),
                              two = at_once(&stage, 1, 2, 0);

        ck_assert_double_eq_tol(two.period / one.period, 1, 0.05);
        ck_assert_double_gt(two.latency, one.latency * 1.9);
    }
}
END_TEST

START_TEST(executors_that_cannot_be)
{
    const mach_work w = {.unit = MACH_WORK_SHAVE, .n_shaves = 9, .issue = 1};
    const mach_work none = {.unit = MACH_WORK_NOTHING};
    const mach_stage stages[] = {{&w, 1}, {&none, 0}, {&none, 1}};
    mach_executors_result r;
    vpu_error err = {0};

    ck_assert_int_eq(
        mach_executors_run(&d, stages, 1, 2, 0, NULL, NULL, &r, &err),
        VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(
        strstr(err.msg, "9 SHAVEs in each of 2 executors; 1 to 8 are there"));
    ck_assert_int_eq(
        mach_executors_run(&d, stages + 1, 1, 2, 0, NULL, NULL, &r, &err),
        VPU_ERR_INVALID);
    ck_assert_int_eq(
        mach_executors_run(&d, stages + 2, 1, 3, 0, NULL, NULL, &r, &err),
        VPU_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(err.msg, "the machine has 2"));
    ck_assert_int_eq(
        mach_executors_run(&d, stages + 2, 1, 0, 0, NULL, NULL, &r, &err),
        VPU_ERR_INVALID);
    ck_assert_int_eq(
        mach_executors_run(&d, stages + 2, 0, 1, 0, NULL, NULL, &r, &err),
        VPU_ERR_INVALID);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stages of networks");
    TCase *t = tcase_create("stage");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, descriptors_follow_each_other);
    tcase_add_test(t, weights_come_at_their_rate);
    tcase_add_test(t, data_in_ddr_are_moved_meanwhile);
    tcase_add_test(t, shaves_share_their_work);
    tcase_add_test(t, an_injected_stage_is_beside);
    tcase_add_test(t, shaves_that_there_are_not);
    tcase_add_test(t, executors_share_nothing_but_the_memory);
    tcase_add_test(t, executors_share_the_memory);
    tcase_add_test(t, executors_that_cannot_be);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
