/* Critical paths of launches whose waits are known. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runtime/advice/path.h"

static mach_desc desc;
static arena *mem;
static vpu_error err;

static void setup(void)
{
    static const char *const settings[] = {"dma_channels=1", "layer_fixed=1000",
                                           "wg_dispatch=0", "shave_start=0",
                                           "dma_setup=0"};

    mem = arena_create(0);
    ck_assert_int_eq(mach_desc_load(NULL, mem, &desc, &err), VPU_OK);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        ck_assert_msg(!mach_desc_set(&desc, mem, settings[i], &err), "%s",
                      err.msg);
}

static void teardown(void)
{
    arena_destroy(mem);
}

static void add(mach_record *r, uint32_t shave, mach_step_kind kind,
                uint64_t id)
{
    mach_record_add(r, shave, &(const mach_step){.kind = kind, .id = id});
}

static void add_run(mach_record *r, uint32_t shave, uint64_t cycles)
{
    mach_record_add(
        r, shave,
        &(const mach_step){.kind = MACH_STEP_RUN, .issue_cycles = cycles});
}

/* Preload of so many bytes, then so many cycles. */
static void add_group(mach_record *r, uint32_t shave, uint64_t g,
                      uint64_t bytes, uint64_t cycles)
{
    mach_step s = {.kind = MACH_STEP_DMA};

    s.detail.dma = (mach_transfer){.bytes = bytes, .lines = 1, .to_cmx = true};
    add(r, shave, MACH_STEP_GROUP, g);
    add(r, shave, MACH_STEP_PHASE, MACH_PRE);
    if (bytes)
        mach_record_add(r, shave, &s);
    add(r, shave, MACH_STEP_PHASE, MACH_COMP);
    add_run(r, shave, cycles);
}

static mach_record *begin(uint32_t n_shaves, uint64_t n_groups)
{
    const mach_launch l = {.name = "test",
                           .n_shaves = n_shaves,
                           .n_groups = n_groups,
                           .double_buffered = true};
    mach_record *r = mach_record_create(1 << 20);

    mach_record_begin(r, &l);
    return r;
}

/* Its parts are the launch, to the cycle. */
static path_result path(mach_record *r)
{
    path_result p;
    uint64_t sum = 0;

    ck_assert_msg(!path_of(r, &desc, &p, &err), "%s", err.msg);
    for (int k = 0; k < PATH_N_KINDS; k++)
        sum += p.cycles[k];
    ck_assert_uint_eq(sum, p.total);
    ck_assert_uint_eq(p.cycles[MACH_CAUSE_IDLE], 0);
    mach_record_free(r);
    return p;
}

/* Nothing but issue, and the launch's own time; the other SHAVE is done long
 * before. */
START_TEST(issue)
{
    mach_record *r = begin(2, 2);
    path_result p;

    add_group(r, 0, 0, 0, 500);
    add_group(r, 1, 1, 0, 2000);
    p = path(r);
    ck_assert_uint_eq(p.shave, 1);
    ck_assert_uint_eq(p.cycles[MACH_CAUSE_ISSUE], 2000);
    ck_assert_uint_eq(p.cycles[MACH_CAUSE_DISPATCH], 1000);
    ck_assert_uint_eq(p.slack_most, 1500);
}
END_TEST

/* One group waits for its own transfer alone. */
START_TEST(own_transfer)
{
    mach_record *r = begin(1, 1);
    path_result p;

    add_group(r, 0, 0, 64000, 300);
    p = path(r);
    ck_assert_uint_ge(p.cycles[PATH_TRANSFER], 64000 / desc.dma_bus_bytes);
    ck_assert_uint_eq(p.cycles[PATH_CHANNELS], 0);
    ck_assert_uint_eq(p.cycles[MACH_CAUSE_DMA_WAIT], 0);
    ck_assert_uint_eq(p.cycles[MACH_CAUSE_ISSUE], 300);
}
END_TEST

/* With one channel the last of three SHAVEs waits for two others' transfers. */
START_TEST(busy_channels)
{
    mach_record *r = begin(3, 3);
    path_result p;

    for (uint32_t i = 0; i < 3; i++)
        add_group(r, i, i, 64000, 300);
    p = path(r);
    ck_assert_uint_gt(p.cycles[PATH_CHANNELS],
                      p.cycles[PATH_TRANSFER] * 19 / 10);
    ck_assert_uint_lt(p.cycles[PATH_CHANNELS],
                      p.cycles[PATH_TRANSFER] * 21 / 10);
}
END_TEST

/* Computing that hides the next transfer is on the path, the transfer is not.
 */
START_TEST(hidden_transfer)
{
    mach_record *r = begin(1, 2);
    path_result p;

    add_group(r, 0, 0, 64, 90000);
    add_group(r, 0, 1, 6400, 90000);
    p = path(r);
    ck_assert_uint_eq(p.cycles[MACH_CAUSE_ISSUE], 180000);
    ck_assert_uint_lt(p.cycles[PATH_TRANSFER], 1000);
}
END_TEST

START_TEST(words)
{
    path_result p = {.total = 1000};
    str text = {0};

    p.cycles[MACH_CAUSE_DDR] = 620;
    p.cycles[PATH_CHANNELS] = 371;
    p.cycles[MACH_CAUSE_ISSUE] = 9;
    path_text(&p, NULL, &text);
    ck_assert_str_eq(str_text(&text), "DDR stall 62 %, busy channels 37 %");
    str_free(&text);
    text = (str){0};
    path_text(&p, "k.cl:7", &text);
    ck_assert_str_eq(str_text(&text),
                     "DDR stall 62 % (k.cl:7), busy channels 37 %");
    str_free(&text);
}
END_TEST

START_TEST(incomplete)
{
    mach_record *r = mach_record_create(10);
    path_result p;

    ck_assert_int_eq(path_of(r, &desc, &p, &err), VPU_ERR_INVALID);
    mach_record_free(r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("advice: critical paths");
    TCase *t = tcase_create("path");
    SRunner *r;
    int failed;

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, issue);
    tcase_add_test(t, own_transfer);
    tcase_add_test(t, busy_channels);
    tcase_add_test(t, hidden_transfer);
    tcase_add_test(t, words);
    tcase_add_test(t, incomplete);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
