/* Mathematical built-ins on floats against MPFR, within the errors that the
 * full profile of OpenCL 1.2 allows: special values and a random sample. */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/math_check.h"
#include "tests/support/rig.h"

static const float specials[] = {0.0f,
                                 -0.0f,
                                 1.0f,
                                 -1.0f,
                                 0.5f,
                                 -0.5f,
                                 1.5f,
                                 -1.5f,
                                 2.0f,
                                 -2.0f,
                                 2.5f,
                                 -2.5f,
                                 3.0f,
                                 -3.0f,
                                 4.0f,
                                 -4.0f,
                                 10.0f,
                                 -33.0f,
                                 34.5f,
                                 100.0f,
                                 -100.0f,
                                 88.72284f,
                                 -103.97f,
                                 128.0f,
                                 -149.0f,
                                 1e10f,
                                 -1e10f,
                                 0x1p-149f,
                                 -0x1p-149f,
                                 0x1p-126f,
                                 -0x1p-126f,
                                 0x1p-127f,
                                 0x1p-24f,
                                 -0x1p-12f,
                                 0x1.fffffep-1f,
                                 1.0000001f,
                                 -1.0000001f,
                                 3.1415927f,
                                 1.5707964f,
                                 -1.5707964f,
                                 0x1p23f,
                                 0x1.8p23f,
                                 0x1p24f,
                                 0x1p31f,
                                 -0x1p31f,
                                 8388607.5f,
                                 0x1p63f,
                                 0x1p127f,
                                 0x1.fffffep127f,
                                 -0x1.fffffep127f};
static const int special_ints[] = {
    0,    1,    -1,  2,    -2,   3,   -3,   4,    5,         -5,
    7,    10,   -10, 24,   -24,  126, 127,  -126, -127,      149,
    -149, -150, 254, -278, 1000, 301, 4097, -999, INT32_MAX, INT32_MIN};

enum {
    N_FINITE = sizeof specials / sizeof *specials,
    N_SPECIALS = N_FINITE + 4,
    N_PAIRS = N_SPECIALS * N_SPECIALS,
    N_SAMPLE = 30000
};

static float special(uint32_t i)
{
    switch (i % N_SPECIALS) {
    case N_FINITE:
        return INFINITY;
    case N_FINITE + 1:
        return -INFINITY;
    case N_FINITE + 2:
        return NAN;
    case N_FINITE + 3:
        return -NAN;
    default:
        return specials[i % N_SPECIALS];
    }
}

/* Any bits, or a number of common size. */
static float sample(uint32_t r, bool any)
{
    float f;

    memcpy(&f, &r, 4);
    return any ? f : (float)((int32_t)r >> (r & 15)) * 0x1p-26f;
}

static void numbers(uint32_t i, double *x, double *y, double *z)
{
    if (i < N_PAIRS) {
        *x = special(i);
        *y = special(i / N_SPECIALS);
        *z = special(rig_noise(i));
    } else {
        *x = sample(rig_noise(i), i & 1);
        *y = sample(rig_noise(~(uint64_t)i), i & 2);
        *z = sample(rig_noise((uint64_t)i << 32), i & 4);
    }
}

static void with_int(uint32_t i, double *x, double *y, double *z)
{
    uint32_t r = rig_noise(i), n = sizeof special_ints / sizeof(int);

    *z = 0;
    if (i < N_SPECIALS * n) {
        *x = special(i);
        *y = special_ints[i / N_SPECIALS];
    } else {
        *x = sample(rig_noise(~(uint64_t)i), i & 1);
        *y = (int32_t)r >> (16 + r % 16);
    }
}

/* half_sin and its kin are defined for small arguments only. */
static void small(uint32_t i, double *x, double *y, double *z)
{
    *x = sample(rig_noise(i), false);
    *y = *z = 0;
}

START_TEST(function)
{
    static const unsigned widths[] = {2, 3, 4, 8, 16};
    const oracle_fn *f = &oracle_fns[_i];
    bool rough = f->ulps > 1000,
         angle = rough && f->n_args == 1 &&
                 (strstr(f->name, "_sin") || strstr(f->name, "_cos") ||
                  strstr(f->name, "_tan"));
    math_result m;

    m = math_check(f, false, widths[_i % 5],
                   (rough ? 6000 : N_SAMPLE) + N_PAIRS + 512,
                   f->kind == ORACLE_TI ? with_int
                   : angle              ? small
                                        : numbers);
    math_report(f, false, &m);
    ck_assert_msg(m.worst <= f->ulps, "%s(%a, %a, %a): %a, not %a", f->name,
                  m.x, m.y, m.z, m.got, m.want);
    ck_assert_msg(!m.n_vector_wrong, "%s: %u lanes differ from the scalar form",
                  f->name, m.n_vector_wrong);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("built-ins: float");
    TCase *c = tcase_create("functions");
    SRunner *r;
    int failed;

    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, function, 0, (int)oracle_n_fns);
    suite_add_tcase(s, c);
    r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
