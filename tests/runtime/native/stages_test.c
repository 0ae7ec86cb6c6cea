/* The table of stages: a row for each number that blobs can have. */
#include <check.h>
#include <string.h>

#include "tests/runtime/native/stage_rig.h"

static const uint32_t numbers[] = {
#define X(number, name) number,
#include "runtime/blob/stage.def"
#undef X
};

/* Custom layers and loops are the matter of others. */
static bool is_others(uint32_t n)
{
    return n == STAGE_CUSTOM || n == STAGE_OLD_CUSTOM ||
           n == STAGE_LOOP_START || n == STAGE_LOOP_END;
}

static uint32_t rows_of(uint32_t n)
{
    uint32_t rows = 0;

#define NATIVE(number, family, buffers, how) rows += number == n;
#define REFUSED(number, why) rows += number == n;
#include "runtime/native/native.def"
    return rows;
}

START_TEST(each_has_a_row)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!is_others(numbers[i]) && rows_of(numbers[i]) != 1)
            ck_abort_msg("stage %u, %s, has %u rows", numbers[i],
                         stage_name(numbers[i]), rows_of(numbers[i]));
}
END_TEST

START_TEST(each_row_has_a_stage)
{
#define NATIVE(number, family, buffers, how) \
    ck_assert_ptr_nonnull(stage_name(number));
#define REFUSED(number, why) ck_assert_ptr_nonnull(stage_name(number));
#include "runtime/native/native.def"
}
END_TEST

/* A stage that is not run says why. */
START_TEST(refusals)
{
    static const struct {
        uint32_t type;
        const char *why;
    } rows[] = {
#define REFUSED(number, why) {number, why},
#include "runtime/native/native.def"
    };
    stage_rig r;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unit_start(&r, rows[i].type, false);
        unit_fails(&r, VPU_ERR_UNSUPPORTED, rows[i].why);
        ck_assert(!native_runs(rows[i].type));
        unit_end(&r);
    }
    unit_start(&r, 4711, false);
    unit_fails(&r, VPU_ERR_UNSUPPORTED, "4711");
    unit_end(&r);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stages");
    TCase *t = tcase_create("stages");
    SRunner *r;
    int bad;

    tcase_add_test(t, each_has_a_row);
    tcase_add_test(t, each_row_has_a_stage);
    tcase_add_test(t, refusals);
    suite_add_tcase(s, t);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    bad = srunner_ntests_failed(r);
    srunner_free(r);
    return bad != 0;
}
