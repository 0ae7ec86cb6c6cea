/* Mathematical built-ins on halves against MPFR: those of one argument over
 * all 65,536 halves, the others over special values and a random sample. */
#include <check.h>
#include <string.h>

#include "tests/support/math_check.h"
#include "tests/support/rig.h"

static const uint16_t specials[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400,
    0x0401, 0x1400, 0x2e66, 0x3555, 0x3800, 0xb800, 0x3bff, 0x3c00,
    0xbc00, 0x3c01, 0xbc01, 0x3e00, 0xbe00, 0x4000, 0xc000, 0x4100,
    0xc100, 0x4200, 0xc200, 0x4248, 0x4400, 0x4900, 0xc880, 0x57ff,
    0x6400, 0xe400, 0x6401, 0x67ff, 0x7800, 0x7bfe, 0x7bff, 0xfbff,
    0x7c00, 0xfc00, 0x7e00, 0x7fff, 0xfe00, 0x5bf8, 0x5c00, 0xf800};
static const int special_ints[] = {
    0,  1,   -1,  2,    -2,   3,    -3,   4,     5,         -5,
    7,  10,  -10, 14,   -14,  15,   16,   -24,   -25,       24,
    39, -40, 100, -101, 1000, -999, 4097, 65536, INT32_MAX, INT32_MIN};

enum { N_SPECIALS = 48, N_PAIRS = N_SPECIALS * N_SPECIALS, N_SAMPLE = 100000 };

static double half_of(uint32_t bits)
{
    uint16_t b = (uint16_t)bits;
    builtin_half h;

    memcpy(&h, &b, 2);
    return (double)h;
}

static void one(uint32_t i, double *x, double *y, double *z)
{
    *x = half_of(i);
    *y = *z = 0;
}

static void many(uint32_t i, double *x, double *y, double *z)
{
    bool special = i < N_PAIRS;
    uint32_t r = rig_noise(i);

    *x = half_of(special ? specials[i % N_SPECIALS] : r);
    *y = half_of(special ? specials[i / N_SPECIALS] : r >> 16);
    *z = half_of(special ? specials[r % N_SPECIALS] : rig_noise(~i));
}

static void with_int(uint32_t i, double *x, double *y, double *z)
{
    uint32_t r = rig_noise(i), n = sizeof special_ints / sizeof(int);

    if (i < N_SPECIALS * n) {
        *x = half_of(specials[i % N_SPECIALS]);
        *y = special_ints[i / N_SPECIALS];
    } else {
        *x = half_of(r);
        *y = (int32_t)r >> (16 + r % 16);
    }
    *z = 0;
}

START_TEST(function)
{
    static const unsigned widths[] = {2, 3, 4, 8, 16};
    const oracle_fn *f = &oracle_fns[_i];
    bool alone = f->n_args == 1;
    /* A multiply by a constant that is rounded, too. */
    double most =
        !strcmp(f->name, "degrees") || !strcmp(f->name, "radians") ? 1.5 : 1;
    math_result m;

    if (!strncmp(f->name, "half_", 5) || !strncmp(f->name, "native_", 7))
        return; /* float only */
    m = math_check(f, true, widths[_i % 5],
                   (alone ? 65536 : N_SAMPLE + N_PAIRS) + 512,
                   alone                  ? one
                   : f->kind == ORACLE_TI ? with_int
                                          : many);
    math_report(f, true, &m);
    ck_assert_msg(m.worst <= most, "%s(%a, %a, %a): %a, not %a", f->name, m.x,
                  m.y, m.z, m.got, m.want);
    ck_assert_msg(!m.n_vector_wrong, "%s: %u lanes differ from the scalar form",
                  f->name, m.n_vector_wrong);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("built-ins: half");
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
